#include "app/command/option_words.h"

#include <algorithm>
#include <iterator>

namespace heddle::app {
namespace {

struct OptionWords {
  const char* part;
  const char* option;  ///< before the message; empty: nothing
  const char* hint;    ///< where the fault has none
};

constexpr OptionWords kOptionWords[] = {
    {"demand", "--demand ", ""},
    {"emitter", "--emitter ", ""},
    {"groups", "", "--groups N allows more"},
    {"instruction", "--instruction ", ""},
    {"layout", "--layout ", ""},
    {"param", "--param ", ""},
    {"shown schedule", "", "give none of --param, --set and --subtile, or another SCHEDULE"},
};

}  // namespace

Error in_options(Error error) {
  for (Fault& fault : error.faults) {
    const auto* const words =
        std::find_if(std::begin(kOptionWords), std::end(kOptionWords), [&](const OptionWords& w) { return fault.part == w.part; });
    fault.part.clear();
    if (words == std::end(kOptionWords)) continue;
    fault.message.insert(0, words->option);
    if (fault.hint.empty()) fault.hint = words->hint;
  }
  return error;
}

}  // namespace heddle::app
