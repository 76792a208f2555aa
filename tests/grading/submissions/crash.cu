// Calls itself until its stack is full.
int down(volatile int* up) {
    volatile int here = *up + 1;
    return down(&here) + here;
}
int main() {
    volatile int start = 0;
    return down(&start);
}
