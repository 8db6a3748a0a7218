#include "core/library/trust.h"

#include "core/answers/validation.h"
#include "core/formats/published_json.h"
#include "core/library/library.h"

namespace heddle {

std::string trust_in(const std::string& kind, const std::string& arch) {
  const Result<std::string> path = library_file("assets/published/validation.json");
  if (!path) return "";
  const Result<ValidationGround> ground = read_validation_ground(*path);
  return ground ? trust_text(*ground, kind, arch) : "";
}

}  // namespace heddle
