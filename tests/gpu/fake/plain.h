// What a straightforward kernel needs of a GPU, on the CPU: threads one after the other.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#define __global__
#define __device__
#define __forceinline__ inline
using std::max;
using std::min;
struct Index {
  int x = 0;
};
inline Index threadIdx, blockIdx, gridDim;
inline float __uint_as_float(unsigned x) {
  float y;
  std::memcpy(&y, &x, 4);
  return y;
}
inline unsigned __float_as_uint(float x) {
  unsigned y;
  std::memcpy(&y, &x, 4);
  return y;
}
