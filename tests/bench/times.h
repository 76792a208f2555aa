// The two numbers that the benchmarks print of the times of all rounds.
#ifndef TESTS_BENCH_TIMES_H
#define TESTS_BENCH_TIMES_H

#include <algorithm>
#include <vector>

// The time in the middle: a few slow rounds do not move it. (Each benchmark has an odd number of rounds.)
template <typename T>
T median(std::vector<T> times) {
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    return times[times.size() / 2];
}

template <typename T>
T least(const std::vector<T>& times) {
    return *std::min_element(times.begin(), times.end());
}

#endif
