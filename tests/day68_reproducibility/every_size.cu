// The lesson's kernels over every n from 1 to 1,030 by small grids. The samples are the control's, so
// that every sum is exact: one sample lost or added twice shows in the bits.
#define REPRODUCIBILITY_NO_MAIN
#include "../../day68_reproducibility/reproducibility.cu"

int main() {
    constexpr int kMost = 1030;
    const char* const names[] = {"atomics", "atomics after Kahan", "tree", "tree over Kahan"};
    int right[4] = {};
    int all = 0;
    char wrong[4][64] = {};
    float samples[kMost + 1];
    for (int i = 0; i <= kMost; ++i) samples[i] = (float)(i & 1);
    CUDA_CHECK(cudaMalloc(&g_control, sizeof samples));
    CUDA_CHECK(cudaMemcpy(g_control, samples, sizeof samples, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMalloc(&g_partials, sizeof(float) * kMaxPartials));
    CUDA_CHECK(cudaMalloc(&g_total, sizeof(float)));
    for (int n = 1; n <= kMost; ++n)
        for (int blocks : {1, 2, 3, 5}) {
            const float want = (float)(4 * (n / 2) + n) / 4.0f;
            ++all;
            for (int method = kAtomic; method <= kKahanTree; ++method) {
                const Run run = sumOnce((Method)method, g_control, n, blocks);
                if (run.total == want && (method < kTree || run.partialsSum == want))
                    ++right[method];
                else if (wrong[method][0] == '\0')
                    snprintf(wrong[method], sizeof wrong[method],
                             "n = %d, %d blocks: %.9g, want %.9g", n, blocks, run.total, want);
            }
        }
    for (int method = kAtomic; method <= kKahanTree; ++method)
        gate(right[method] == all, names[method], "%s", wrong[method]);
    for (float* p : {g_control, g_partials, g_total}) CUDA_CHECK(cudaFree(p));
    return finish();
}
