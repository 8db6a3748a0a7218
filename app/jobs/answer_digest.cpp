// The number comes from scripts/answer_digest.cmake.
#include "app/jobs/answer_digest.h"

#include "generated/answer_digest.h"

namespace heddle::app {

const char* answer_digest() { return HEDDLE_ANSWER_DIGEST; }

}  // namespace heddle::app
