// A schedule given back to Triton, as the command line and the window say it: what changes, what the new text needs, what comes next.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/answers/difference.h"
#include "core/machine/machine.h"
#include "core/triton/audit/comparison.h"
#include "core/triton/back/give_back.h"
#include "core/triton/back/rules.h"

namespace heddle::app {

inline constexpr int kTritonRules = 8;  ///< families of core/triton/back/rules.h

/// Triton's own schedule given back: the text as it is, where the rules find nothing in it. Faults: the rules that it breaks.
Result<triton::GivenBack> own_given_back(const triton::TritonProgram& program, const triton::LoopSite& loop, const Machine& machine);

/// The first `most` of what changes, and how many more there are.
std::vector<std::string> first_changes(const triton::GivenBack& given, std::size_t most);

/// "predicted: shared memory 229 432 -> 163 872 of 232 448 bytes, 8 warps", tensor memory where there is any; where Triton may make it
/// otherwise, that it may, and why.
std::string predicted(const triton::TritonMemory& before, const triton::TritonMemory& after, const Machine& machine,
                      NumberText number = grouped);

/// The step as a line for a shell. `name` and `machine`: words of a shell; empty: the machine of the text's target.
std::string command_of(triton::NextStep step, const std::string& name, const std::string& machine = {});
/// What compiles the text for sm_TARGET, as a line for a shell in this folder.
std::string finish_command(const std::string& ttgir, int target);
/// The folder of heddle_triton.py, where Python has to look for it.
std::string python_folder();
/// What makes a program compile with the texts of a folder, as a line of Python.
std::string use_line(const std::string& folder);

}  // namespace heddle::app
