#include "app/command/option_words.h"

#include <algorithm>
#include <iterator>

namespace heddle::app {
namespace {

struct OptionWords {
  const char* part;
  const char* option;  ///< stands in the message, in front of `at`; empty: nothing
  const char* hint;    ///< where the fault has none; with {}: around the one that it has
  const char* at = "";
};

constexpr OptionWords kOptionWords[] = {
    {"demand", "--demand ", ""},
    {"emitter", "--emitter ", ""},
    {"form of a layout", "--layout ", "", "VALUE=LAYOUT"},
    {"form of an instruction", "--instruction ", "", "OP=NAME"},
    {"groups", "", "--groups N allows more"},
    {"groups of a family", "", "say --vary groups=N"},
    {"instruction", "--instruction ", ""},
    {"launch block", "--block: ", ""},
    {"launch branch", "--branch: ", ""},
    {"launch buffer", "--buffer: ", ""},
    {"launch cluster", "--cluster: ", ""},
    {"launch grid", "--grid: ", ""},
    {"launch kernel", "", "{}: name one with --kernel"},
    {"launch map", "--map: ", ""},
    {"launch memory", "--smem: ", ""},
    {"launch parameter", "--param: ", ""},
    {"launch size", "--size: ", ""},
    {"layout", "--layout ", ""},
    {"layout in memory", "", "give the layout in memory too: --with \"panels 128\""},
    {"least II", "", "solve with --ii at least as large"},
    {"left open", "--choose ", ""},
    {"missing map", "", "--map {}"},
    {"missing parameter", "", "--param {}"},
    {"name of a switch", "", "--list-switches lists them"},
    {"names of a trace", "", "say with --map {}"},
    {"other changes", "", "give them with --set"},
    {"other layouts", "", "give them with --layout and --instruction"},
    {"other python source", "", "compile again, or name the file of that time (--source)"},
    {"own schedule", "", "name the KERNEL like FILE#triton, and leave out --subtile; or give a SCHEDULE"},
    {"param", "--param ", ""},
    {"python source", "", "name it: --source FILE.py"},
    {"rotation on Blackwell", "", "on Blackwell warp groups do that: solve it, and export with --format ttgir"},
    {"shown schedule", "", "give none of --param, --set and --subtile, or another SCHEDULE"},
    {"sizes of a text", "", "--param {}"},
    {"switch", "--switch ", "--list-switches lists them"},
    {"values of a family", "", "name them: --vary {}"},
    {"vary", "--vary ", ""},
};

/// Where a fault has a hint, the words around it stay out unless they have a place for it.
std::string hint_with(const std::string& hint, std::string words) {
  const std::size_t place = words.find("{}");
  if (place == std::string::npos) return hint.empty() ? words : hint;
  return hint.empty() ? hint : words.replace(place, 2, hint);
}

}  // namespace

Error in_options(Error error) {
  for (Fault& fault : error.faults) {
    const auto* const words =
        std::find_if(std::begin(kOptionWords), std::end(kOptionWords), [&](const OptionWords& w) { return fault.part == w.part; });
    fault.part.clear();
    if (words == std::end(kOptionWords)) continue;
    const std::size_t at = fault.message.find(words->at);
    fault.message.insert(at == std::string::npos ? 0 : at, words->option);
    fault.hint = hint_with(fault.hint, words->hint);
  }
  return error;
}

}  // namespace heddle::app
