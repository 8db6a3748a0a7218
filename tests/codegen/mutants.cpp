// One change per mutant.
#include "tests/codegen/mutants.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "codegen/program/text.h"

namespace heddle::test {

using namespace codegen;

namespace {

/// The step that a wait is there for: the next that touches the buffer; `k` when there is none.
std::size_t guarded(const Program& program, const std::vector<Step>& steps, std::size_t k) {
  const std::size_t buffer = program.barriers[steps[k].barrier].buffer;
  const auto touches = [&](const Place& p) { return p.kind == Place::Kind::Buffer && p.index == buffer; };
  for (std::size_t n = k + 1; n < steps.size(); ++n)
    if (touches(steps[n].output) || std::any_of(steps[n].inputs.begin(), steps[n].inputs.end(), touches)) return n;
  return k;
}

/// The nearest step before a signal that does something: order among waits, signals and cursors changes nothing.
std::size_t before(const std::vector<Step>& steps, std::size_t k) {
  for (std::size_t n = k; n-- > 0;)
    if (steps[n].kind != StepKind::Arrive && steps[n].kind != StepKind::Wait && steps[n].kind != StepKind::Advance) return n;
  return k;
}

}  // namespace

std::vector<Mutant> mutants(const Kernel& kernel, const Program& program) {
  std::vector<Mutant> all;
  const auto add = [&](std::string what, const std::function<void(Program&)>& change) {
    Mutant mutant{std::move(what), program};
    change(mutant.program);
    all.push_back(std::move(mutant));
  };
  for (std::size_t r = 0; r < program.roles.size(); ++r) {
    const Role& role = program.roles[r];
    for (std::size_t s = 0; s < role.sections.size(); ++s) {
      const Section& section = role.sections[s];
      for (std::size_t k = 0; k < section.steps.size(); ++k) {
        const Step& step = section.steps[k];
        const std::string where =
            fmt::format("{}, {} {}: '{}'", role.name, to_string(section.part), s, step_text(kernel, program, role, section, step));
        const auto steps_of = [r, s](Program& p) -> std::vector<Step>& { return p.roles[r].sections[s].steps; };
        const auto drop = [&] {
          add("dropped " + where, [&](Program& p) { steps_of(p).erase(steps_of(p).begin() + static_cast<std::ptrdiff_t>(k)); });
        };
        switch (step.kind) {
          case StepKind::Wait:
            drop();
            add("other phase " + where, [&](Program& p) { steps_of(p)[k].ahead ^= true; });
            if (const std::size_t to = guarded(program, section.steps, k); to > k)
              add("later " + where, [&](Program& p) {
                auto& steps = steps_of(p);
                std::rotate(steps.begin() + static_cast<std::ptrdiff_t>(k), steps.begin() + static_cast<std::ptrdiff_t>(k) + 1,
                            steps.begin() + static_cast<std::ptrdiff_t>(to) + 1);
              });
            break;
          case StepKind::Arrive:
            drop();
            add("once less " + where, [&](Program& p) { --steps_of(p)[k].count; });
            add("once more " + where, [&](Program& p) { ++steps_of(p)[k].count; });
            if (const std::size_t to = before(section.steps, k); to < k)
              add("earlier " + where, [&](Program& p) {
                auto& steps = steps_of(p);
                std::rotate(steps.begin() + static_cast<std::ptrdiff_t>(to), steps.begin() + static_cast<std::ptrdiff_t>(k),
                            steps.begin() + static_cast<std::ptrdiff_t>(k) + 1);
              });
            break;
          case StepKind::Retire:
            drop();
            add("one more in flight " + where, [&](Program& p) { ++steps_of(p)[k].keep; });
            break;
          case StepKind::TakeTurn:
          case StepKind::PassTurn:
          case StepKind::Commit:
          case StepKind::Sync:
          case StepKind::Advance: drop(); break;
          default: break;
        }
      }
    }
    for (std::size_t c = 0; c < role.cursors.size(); ++c) {
      const std::string where = fmt::format("{}: cursor {} of depth {}", role.name, c, role.cursors[c].depth);
      bool moves = false;
      for (const Section& section : role.sections)
        for (const Step& step : section.steps) moves = moves || (step.kind == StepKind::Advance && step.cursor == c);
      if (!moves) continue;
      if (role.cursors[c].depth > 1) add("one less " + where, [&](Program& p) { --p.roles[r].cursors[c].depth; });
      add("one more " + where, [&](Program& p) { ++p.roles[r].cursors[c].depth; });
    }
    for (std::size_t v = 0; v < role.variables.size(); ++v)
      if (role.variables[v].copies > 1)
        add(fmt::format("one copy less of {} in {}", role.variables[v].name, role.name),
            [&](Program& p) { --p.roles[r].variables[v].copies; });
    if (!role.variables.empty()) {
      add(fmt::format("registers of {} below what is live", role.name),
          [&](Program& p) { p.roles[r].registers = role.peak_registers / 8 * 8 - 8; });
      add(fmt::format("registers of {} beyond what is left", role.name),
          [&](Program& p) { p.roles[r].registers += 8 * static_cast<int>(p.roles.size()); });
    }
  }
  for (std::size_t b = 0; b < program.buffers.size(); ++b)
    add(fmt::format("one slot less for {}", program.buffers[b].name), [&](Program& p) { --p.buffers[b].depth; });
  for (std::size_t b = 0; b < program.barriers.size(); ++b) {
    const std::string where =
        fmt::format("{} {}", program.barriers[b].full ? "full" : "empty", program.buffers[program.barriers[b].buffer].name);
    add("one arrival more for " + where, [&](Program& p) { ++p.barriers[b].arrivals; });
    if (program.barriers[b].arrivals > 1) add("one arrival less for " + where, [&](Program& p) { --p.barriers[b].arrivals; });
  }
  return all;
}

}  // namespace heddle::test
