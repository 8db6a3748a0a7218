// Shipped kernels with a solved schedule each, as the code generator's tests need them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/program/build.h"
#include "core/kernel/kernel.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle::test {

struct Lowering {
  Kernel kernel;
  Problem problem;
  Schedule schedule;
};

/// Kernel, its problem on h100 (b200 where it is called so) with these parameters, and the schedule that lies with the tests. Aborts when
/// there is none.
Lowering lowering(const std::string& kernel, const Scope& params = {});
/// With a schedule of the repository: "kernels/schedules/...". The kernel may be cut: "attention_forward_tile_hopper[Q_ROWS/2]".
Lowering lowering(const std::string& kernel, const Scope& params, const std::string& schedule);

/// A kernel of tests/kernels, on h100, laid out as `choices` say, else as its schedule does, and that schedule.
Lowering lowered_fixture(const std::string& name, const Scope& params = {}, const LayoutChoices& choices = {});

/// A kernel that `heddle new` would write: called `name`, with these options of a pattern and small sizes, and its schedule.
Lowering lowered_pattern(const std::string& name, const std::string& pattern, const std::map<std::string, std::string>& options,
                         const Scope& params);

/// The same schedule with other choices. Costs stay those of before, so that the schedule stays legal: that is about the text.
Lowering laid_out(Lowering from, const LayoutChoices& choices);

/// The program, which must exist.
codegen::Program program_of(const Lowering& from, std::optional<std::int64_t> trips = {}, const codegen::BuildOptions& options = {});

/// Those with a schedule, for h100 and for b200.
const std::vector<std::string>& lowered_kernels();
const std::vector<std::string>& blackwell_kernels();

/// The deepest ring of a program.
int deepest(const codegen::Program& program);

}  // namespace heddle::test
