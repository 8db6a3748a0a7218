#include "core/library/trust.h"

#include "core/formats/published_json.h"
#include "core/library/library.h"

namespace heddle {

Trust trust_in(const std::string& kind, const std::string& arch, bool changed) {
  if (changed) return {false, "numbers changed, not validated", "the model's word, not validated: numbers are not those of the files"};
  const Result<std::string> path = library_file("assets/published/validation.json");
  if (!path) return {};
  const Result<ValidationGround> ground = read_validation_ground(*path);
  return ground ? trust_of(*ground, kind, arch) : Trust{};
}

}  // namespace heddle
