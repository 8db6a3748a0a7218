#include "core/library/trust.h"

#include "core/formats/published_json.h"
#include "core/library/library.h"

namespace heddle {

Trust trust_in(const std::string& kind, const std::string& arch) {
  const Result<std::string> path = library_file("assets/published/validation.json");
  if (!path) return {};
  const Result<ValidationGround> ground = read_validation_ground(*path);
  return ground ? trust_of(*ground, kind, arch) : Trust{};
}

}  // namespace heddle
