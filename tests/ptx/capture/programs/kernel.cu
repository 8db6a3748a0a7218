// A program for nvcc: a kernel with <<<>>>, a struct among its parameters, and managed memory.
#include <cstdio>

struct Sizes {
  int rows;
  double scale;
};

__global__ void scale(float* a, Sizes sizes, const int* lengths) {
  if (threadIdx.x < sizes.rows) a[threadIdx.x] *= static_cast<float>(sizes.scale) * lengths[0];
}

int main() {
  float* a = nullptr;
  int* lengths = nullptr;
  cudaMalloc(&a, 1 << 20);
  cudaMallocManaged(&lengths, 8);
  lengths[0] = 3;
  lengths[1] = 4;
  scale<<<dim3(2, 3), 64, 100>>>(a, Sizes{5, 0.5}, lengths);
  std::printf("%d\n", cudaDeviceSynchronize());
  return 0;
}
