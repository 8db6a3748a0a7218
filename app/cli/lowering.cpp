// Solving again under the demands of what could not be written.
#include "app/cli/lowering.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/cli/cli.h"
#include "app/cli/solving.h"
#include "codegen/program/target.h"

namespace heddle::app {
namespace {

constexpr int kMostRounds = 8;

int refused(const std::vector<codegen::Refusal>& refusals, const Arguments& arguments, const Terminal& terminal) {
  for (const codegen::Refusal& r : refusals) terminal.complain(fmt::format("{}: {}", r.rule, printable(r.sentence)));
  for (const codegen::Refusal& r : refusals)
    if (r.constraint) terminal.complain(fmt::format("solve with --demand \"{}\"", printable(r.constraint->name)));
  if (arguments.has("--json")) terminal.out << Json(Json::Object{{"refusals", refusals_json(refusals)}}).pretty();
  return kNegative;
}

}  // namespace

codegen::BuildOptions build_options(const Arguments& arguments) {
  return {.cluster = static_cast<int>(arguments.integer("--cluster").value_or(1)), .turns = !arguments.has("--no-turns")};
}

Json refusals_json(const std::vector<codegen::Refusal>& refusals) {
  Json list = Json::array();
  for (const codegen::Refusal& r : refusals) {
    Json ops = Json::array();
    for (const std::string& op : r.ops) ops.push(op);
    list.push(Json::Object{{"rule", r.rule}, {"ops", std::move(ops)}, {"sentence", r.sentence}, {"demand", r.constraint ? Json(r.constraint->name) : Json()}});
  }
  return list;
}

std::optional<Lowered> lower(const Arguments& arguments, const Terminal& terminal, int& code, const std::vector<UserConstraint>& demands) {
  Result<Inputs> inputs = load_inputs(arguments, terminal);
  if (!inputs) {
    code = report(terminal, inputs.error(), arguments.has("--json"));
    return std::nullopt;
  }
  const bool given = inputs->schedule.has_value();
  inputs->constraints.insert(inputs->constraints.end(), demands.begin(), demands.end());
  std::vector<codegen::Refusal> refusals;
  for (int round = 0; round < kMostRounds; ++round) {
    const auto schedule = schedule_to_show(*inputs, arguments, terminal, code);
    if (!schedule) return std::nullopt;
    code = kDone;
    codegen::BuildResult built = codegen::build_program(inputs->kernel, inputs->problem, *schedule, arguments.integer("--trips"), build_options(arguments));
    if (built.program) return Lowered{std::move(*inputs), *schedule, std::move(*built.program)};
    refusals = std::move(built.refusals);
    bool more = false;
    for (const codegen::Refusal& r : refusals) {
      auto& known = inputs->constraints;
      if (given || !r.constraint || std::find(known.begin(), known.end(), *r.constraint) != known.end()) continue;
      terminal.note(fmt::format("{}: solved again with \"{}\"", r.rule, printable(r.constraint->name)));
      known.push_back(*r.constraint);
      more = true;
    }
    if (!more) break;
  }
  code = refused(refusals, arguments, terminal);
  return std::nullopt;
}

std::optional<codegen::Emission> write_cuda(const Lowered& lowered, const Arguments& arguments, const Terminal& terminal, int& code) {
  const Inputs& inputs = lowered.inputs;
  if (auto refusal = codegen::refuse_machine(inputs.machine)) {
    code = refused({std::move(*refusal)}, arguments, terminal);
    return std::nullopt;
  }
  const std::string records = arguments.text("--records").value_or("none");
  const auto recording = records == "ops" ? codegen::Recording::Ops : records == "loop" ? codegen::Recording::Loop : codegen::Recording::None;
  codegen::EmitResult emitted = codegen::emit_cuda(inputs.kernel, inputs.problem, lowered.schedule, lowered.program, recording);
  if (!emitted.emission) code = refused(emitted.refusals, arguments, terminal);
  return std::move(emitted.emission);
}

}  // namespace heddle::app
