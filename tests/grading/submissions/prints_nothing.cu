// Ends with 0, and that is all.
int main() { return 0; }
