#include "ptx/capture/say.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>

namespace heddle::ptx::capture {

void say(const std::string& sentence) {
  static std::mutex mutex;
  static auto& said = *new std::set<std::string>;
  const std::lock_guard<std::mutex> lock(mutex);
  if (!said.insert(sentence).second || std::getenv("HEDDLE_CAPTURE_QUIET")) return;
  std::fprintf(stderr, "heddle capture: %s\n", sentence.c_str());
}

}  // namespace heddle::ptx::capture
