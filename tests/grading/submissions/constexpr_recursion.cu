// Lets the compiler compute without an end.
constexpr unsigned walk(unsigned depth, unsigned path) {
    return depth == 0 ? path : walk(depth - 1, 2 * path) ^ walk(depth - 1, 2 * path + 1);
}
constexpr unsigned kWalk = walk(31, 1);
int main() { return kWalk == 7; }
