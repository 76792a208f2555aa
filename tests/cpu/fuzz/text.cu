// k<<<1, 1>>>(); __shared__ int a; it's \
   more
/* #include "part.cu" " ' */
#  define INLINE static __device__ \
       inline
#define Q "k<<<1, 1>>>/*" '"' /* ' */
#undef INLINE
#if 0
#error it isn't text
#endif
const char* b = R"(k<<<1, 1>>>() " __device__ void f() { )";
const char* c = u8R"tag()" __shared__ )tag" PRIu64"%d";
const int d = 1'000'000 + 0xff'ff + '"' + '\'' + L'\\';
