// cuBLAS by dlopen; its functions are declared here as its documentation has them.
#include "codegen/run/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "codegen/compile/shared_library.h"

namespace heddle::codegen {
namespace {

using CublasHandle = struct OpaqueCublas*;

struct Cublas {
  int (*create)(CublasHandle*) = nullptr;
  int (*set_stream)(CublasHandle, cuda::Stream) = nullptr;
  int (*version)(CublasHandle, int*) = nullptr;
  int (*gemm)(CublasHandle, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int, const void*, void*, int,
              int, int, int) = nullptr;
};

// Values of cublas_api.h and library_types.h.
constexpr int kPlain = 0, kTransposed = 1, kCompute32F = 68, kDefaultAlgorithm = -1;
int type_of(DType dtype) { return dtype == DType::F32 ? 0 : dtype == DType::F16 ? 2 : 14; }

}  // namespace

Result<std::vector<LibraryKernel>> open_cublas(const LibraryGemm& gemm, const std::vector<TensorPlan>& tensors, cuda::Stream stream) {
  const Result<void*> opened = open_shared("HEDDLE_CUBLAS", {"libcublas.so.13", "libcublas.so.12", "libcublas.so"});
  if (!opened) return opened.error();
  void* const library = *opened;
  if (!library) return Error::environment("cuBLAS is not installed");
  Cublas c;
  c.create = reinterpret_cast<decltype(c.create)>(dlsym(library, "cublasCreate_v2"));
  c.set_stream = reinterpret_cast<decltype(c.set_stream)>(dlsym(library, "cublasSetStream_v2"));
  c.version = reinterpret_cast<decltype(c.version)>(dlsym(library, "cublasGetVersion_v2"));
  c.gemm = reinterpret_cast<decltype(c.gemm)>(dlsym(library, "cublasGemmEx"));
  if (!c.create || !c.set_stream || !c.version || !c.gemm) return Error::environment("the cuBLAS that is installed lacks cublasGemmEx");
  if (std::max({gemm.m, gemm.n, gemm.k}) > std::numeric_limits<int>::max())
    return Error::environment("cuBLAS takes no extents beyond 2^31");
  CublasHandle handle = nullptr;
  int version = 0;
  if (const int code = c.create(&handle); code != 0) return Error::environment(fmt::format("cuBLAS does not start (status {})", code));
  c.version(handle, &version);
  if (const int code = c.set_stream(handle, stream); code != 0)
    return Error::environment(fmt::format("cuBLAS takes no stream (status {})", code));
  LibraryKernel kernel;
  kernel.name = fmt::format("cuBLAS {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
  const int in = type_of(tensors[gemm.a].dtype), out = type_of(tensors[gemm.c].dtype);
  const int m = static_cast<int>(gemm.m), n = static_cast<int>(gemm.n), k = static_cast<int>(gemm.k);
  // cuBLAS thinks in columns: the row-major C = A B is the column-major transpose of C = transpose of B times that of A.
  kernel.launch = [=](const std::vector<cuda::Memory>& buffers) {
    const float one = 1, zero = 0;
    const auto at = [&](std::size_t t) { return reinterpret_cast<void*>(buffers[t]); };
    const int code = c.gemm(handle, gemm.b_transposed ? kTransposed : kPlain, kPlain, n, m, k, &one, at(gemm.b), in,
                            gemm.b_transposed ? k : n, at(gemm.a), in, k, &zero, at(gemm.c), out, n, kCompute32F, kDefaultAlgorithm);
    return code == 0 ? std::string{} : fmt::format("status {}", code);
  };
  return std::vector{std::move(kernel)};
}

}  // namespace heddle::codegen
