// Whole files in and out. A write is seen complete or not at all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace heddle {

inline constexpr std::uint64_t kLargestFile = 64ull << 20;  ///< bytes; nothing of ours is near it

/// The whole file, or all that comes out of a pipe. Missing, unreadable, a folder, a device, or larger than `limit` bytes: an input error
/// that says which.
Result<std::string> read_file(const std::string& path, std::uint64_t limit = kLargestFile);

/// Writes a new file of an unforeseeable name in the same folder, flushes it to the disk, and renames it over `path`: links and files that
/// others put into a shared folder are never written through. The old file survives every failure; failures are environment errors. Through
/// a link of `path` itself the file it points to is replaced, unless somebody else put the link into a folder that everybody may write to
/// (an environment error). Devices and pipes are written to in place. A missing folder is an error, so that a mistyped path grows no tree;
/// only what has a folder of its own, like settings, creates it.
enum class MissingFolder { Fail, Create };
/// Kept: the permissions of the file that is replaced, else what the umask leaves. Private: for its owner alone (0600), and a link, a pipe
/// or a device is replaced too.
enum class FileMode { Kept, Private };
Result<Ok> write_file(const std::string& path, std::string_view content, MissingFolder folder = MissingFolder::Fail,
                      FileMode mode = FileMode::Kept);

/// Whether write_file, without creating folders, has a place to write to, as far as can be told without writing: for
/// asking before hours of work.
Result<Ok> check_writable(const std::string& path);

}  // namespace heddle
