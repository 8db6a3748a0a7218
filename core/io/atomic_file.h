// Whole files in and out. A write is seen complete or not at all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace heddle {

inline constexpr std::uint64_t kLargestFile = 64ull << 20;  ///< bytes; nothing of ours is near it

/// The whole file. Missing, unreadable, a folder, or larger than `limit` bytes: an input error that says which.
Result<std::string> read_file(const std::string& path, std::uint64_t limit = kLargestFile);

/// Writes a temporary file in the same folder, flushes it to the disk, and renames it over `path`. The old file
/// survives every failure; failures are environment errors. Devices and pipes are written to in place. A missing folder
/// is an error, lest a mistyped path grows a tree; only what has a folder of its own, like settings, creates it.
enum class MissingFolder { Fail, Create };
Result<Ok> write_file(const std::string& path, std::string_view content, MissingFolder folder = MissingFolder::Fail);

/// Whether write_file, without creating folders, has a place to write to, as far as can be told without writing: for
/// asking before hours of work.
Result<Ok> check_writable(const std::string& path);

}  // namespace heddle
