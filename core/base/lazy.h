// A value that is made when it is asked for first, and once.
#pragma once

#include <mutex>
#include <optional>

namespace heddle {

template <class T>
class Lazy {
 public:
  /// Any thread may ask; `make` is called by the first one only.
  template <class Make>
  const T& get(Make&& make) const {
    std::call_once(once_, [&] { value_.emplace(make()); });
    return *value_;
  }

 private:
  mutable std::once_flag once_;
  mutable std::optional<T> value_;
};

}  // namespace heddle
