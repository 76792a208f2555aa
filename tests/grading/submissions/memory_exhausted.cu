// Takes memory until there is none.
int main() {
    for (;;) {
        char* volatile more = new char[64 << 20];
        more[0] = 'x';
    }
}
