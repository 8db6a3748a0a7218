// What devices answer to questions about themselves, where there is none.
#pragma once

#include <cstdint>

namespace heddle::ptx::capture {

struct CapturedDevice {
  const char* name;
  int major, minor;
  int sms;
  int shared_bytes;  ///< that a block can ask for
  std::uint64_t memory;
};

/// The one that the program runs on, by target().
const CapturedDevice& device();

/// By CUdevice_attribute, which is cudaDeviceAttr; 0 for what nobody asks.
int device_attribute(int attribute);

}  // namespace heddle::ptx::capture
