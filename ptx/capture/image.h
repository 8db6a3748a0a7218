// The PTX texts inside what a program gives to cuModuleLoadData: a fat binary of nvcc's, a text, or machine code, which has none.
#pragma once

#include <string>
#include <vector>

namespace heddle::ptx::capture {

struct CapturedImage {
  std::vector<std::string> texts;    ///< PTX, in the order of the file
  bool machine_code = false;         ///< it has a cubin, too or only
  std::vector<std::string> kernels;  ///< of machine code
  std::string trouble;               ///< why a text of it could not be read; "" : all could
};

/// Pre: `data` begins a fat binary (or its wrapper), PTX that ends with a NUL, or an ELF file.
CapturedImage read_image(const void* data);

/// What LZ4's block format holds (lz4_Block_format.md); as much of it as is well formed.
std::string unpacked_lz4(const unsigned char* from, std::size_t bytes, std::size_t unpacked);

}  // namespace heddle::ptx::capture
