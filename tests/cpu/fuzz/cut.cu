__global__ void k() {
    __shared__ int a[4const char* s = "abc
/* no end