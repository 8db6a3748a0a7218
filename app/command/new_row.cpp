// Arguments of heddle new: the patterns and their options, from core/patterns.
#include <algorithm>

#include "app/command/command_rows.h"
#include "app/command/commands.h"
#include "app/command/shared_options.h"
#include "core/base/suggest.h"
#include "core/patterns/pattern.h"

namespace heddle::app {

CommandSpec new_row() {
  using namespace spec;
  std::vector<std::string> settings;
  for (const Pattern& pattern : patterns())
    for (const PatternOption& option : pattern.options)
      if (const std::string begin = option.name + "="; std::find(settings.begin(), settings.end(), begin) == settings.end())
        settings.push_back(begin);
  return {"new",
          "write a kernel file of your own from a pattern: GEMM with what is fused behind it, attention, norms ...",
          {"heddle new", "heddle new gemm bias=yes activation=gelu -o mine.json",
           "heddle new attention mask=causal head_size=64 group=8 -o gqa.json", "heddle new gemm --list"},
          {{"PATTERN", "which kernel; without it the patterns and their options are listed", PositionalType::Choice, false,
            names_of(patterns())},
           {"SETTINGS", "NAME=VALUE for each option that is not to be as usual", PositionalType::Settings, false, std::move(settings)}},
          {file("--out", "-o", "the new file; one that exists is left alone (default: standard output)"),
           {"--name", "", "NAME", "of the kernel (default: after the file, or the pattern)", ValueType::Name, {}, 0, 0, false},
           toggle("--list", "only list the options of PATTERN"),
           kJson},
          run_new};
}

}  // namespace heddle::app
