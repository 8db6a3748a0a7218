#include "ptx/capture/real_driver.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "ptx/capture/say.h"

namespace heddle::ptx::capture {
namespace {

void* open_driver() {
  const char* path = std::getenv("HEDDLE_CAPTURE_DRIVER");
  if (!path || !*path) return nullptr;
  // What it calls is its own, though this library has functions of the same names.
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (!library) say(std::string("the driver ") + path + " cannot be opened; going on without it");
  return library;
}

}  // namespace

void* real_symbol(const char* name) {
  static void* const library = open_driver();
  return library ? dlsym(library, name) : nullptr;
}

}  // namespace heddle::ptx::capture
