// Opening files in folders that others may write to.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.h"

struct stat;

namespace heddle {

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }
  int get() const { return number_; }
  bool valid() const { return number_ >= 0; }
  /// False, with errno: what was written may not have arrived.
  bool close();

 private:
  int number_;
};

/// A regular file, or a pipe that somebody feeds on purpose ("<(...)", /dev/stdin). Input errors that say which: missing, unreadable, a
/// folder, a device (which never ends).
Result<Descriptor> open_to_read(const std::string& path, struct stat* facts = nullptr);

/// Where `path` leads through symbolic links; itself if it is none, or is missing. Links are followed by the rule of Linux'
/// protected_symlinks: one that somebody else put into a folder that everybody may write to is not. Environment error: that, or a
/// ring of links.
Result<std::string> followed_links(const std::string& path);

/// 0, or the errno of the failure.
int write_all(int descriptor, std::string_view content);

}  // namespace heddle
