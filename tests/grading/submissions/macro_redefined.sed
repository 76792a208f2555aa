# The size is the lesson's, whatever was asked for.
s|^constexpr int kThreads = 256;|#undef MANY_TENTHS\n#define MANY_TENTHS 1000003\n&|
