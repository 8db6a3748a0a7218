// One change per mutant.
#include "tests/codegen/mutants.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "codegen/program/text.h"

namespace heddle::test {

using namespace codegen;
using codegen::Place;  // not that of faults

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

bool is_tensor(const Program& program, const Place& place) {
  return place.kind == Place::Kind::Buffer && program.buffers[place.index].tensor();
}

/// Loads from tensor memory, stores to it, or is a product into it.
bool touches_tensor(const Program& program, const Step& step) {
  return (step.kind == StepKind::Compute || step.kind == StepKind::Issue) &&
         (is_tensor(program, step.output) ||
          std::any_of(step.inputs.begin(), step.inputs.end(), [&](const Place& p) { return is_tensor(program, p); }));
}

/// The product before a signal that reads or fills what the signal is about; `k` when there is none.
std::size_t product_before(const Program& program, const std::vector<Step>& steps, std::size_t k) {
  const std::size_t buffer = program.barriers[steps[k].barrier].buffer;
  const auto touches = [&](const Place& p) { return p.kind == Place::Kind::Buffer && p.index == buffer; };
  for (std::size_t n = k; n-- > 0;)
    if (steps[n].engine == Engine::Mma && steps[n].kind == StepKind::Issue &&
        (touches(steps[n].output) || std::any_of(steps[n].inputs.begin(), steps[n].inputs.end(), touches)))
      return n;
  return k;
}

/// The first step from `k` on, forwards or backwards, of which something is true; `k` when there is none.
std::size_t next(const std::vector<Step>& steps, std::size_t k, const std::function<bool(const Step&)>& wanted) {
  for (std::size_t n = k + 1; n < steps.size(); ++n)
    if (wanted(steps[n])) return n;
  return k;
}
std::size_t last(const std::vector<Step>& steps, std::size_t k, const std::function<bool(const Step&)>& wanted) {
  for (std::size_t n = k; n-- > 0;)
    if (wanted(steps[n])) return n;
  return k;
}

/// Takes registers that a step before `k` loads from tensor memory.
bool uses_loaded(const Program& program, const std::vector<Step>& steps, std::size_t k, const Step& step) {
  return std::any_of(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(k), [&](const Step& load) {
    const bool loads = load.kind == StepKind::Compute && load.output.kind == Place::Kind::Variable &&
                       std::any_of(load.inputs.begin(), load.inputs.end(), [&](const Place& p) { return is_tensor(program, p); });
    return loads && std::any_of(step.inputs.begin(), step.inputs.end(), [&](const Place& p) {
             return p.kind == Place::Kind::Variable && p.index == load.output.index && p.iteration == load.output.iteration;
           });
  });
}

/// The same stands there again before anything relies on it: a meeting of the warps, or a wait for stores.
bool comes_again(const std::vector<Step>& steps, std::size_t k) {
  for (std::size_t n = k + 1; n < steps.size(); ++n) {
    const Step& s = steps[n];
    if (s.kind == steps[k].kind && s.engine == steps[k].engine && s.keep <= steps[k].keep && s.skip_first <= steps[k].skip_first &&
        s.skip_last <= steps[k].skip_last && s.only_last == steps[k].only_last)
      return true;
    const bool relies = s.kind == StepKind::Issue || s.kind == StepKind::Commit || s.kind == StepKind::Arrive ||
                        (steps[k].kind == StepKind::Retire && s.kind == StepKind::Sync && n > k + 1) ||
                        s.output.kind == Place::Kind::Buffer;
    if (relies) return false;
  }
  return false;
}

void move_step(std::vector<Step>& steps, std::size_t from, std::size_t to) {
  const auto at = [&](std::size_t k) { return steps.begin() + static_cast<std::ptrdiff_t>(k); };
  if (from < to) std::rotate(at(from), at(from) + 1, at(to) + 1);
  if (to < from) std::rotate(at(to), at(from), at(from) + 1);
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
        const auto move = [&](const char* how, std::size_t to) {
          if (to != k) add(how + (" " + where), [&](Program& p) { move_step(steps_of(p), k, to); });
        };
        const auto touches = [&](const Step& other) { return touches_tensor(program, other); };
        const auto tells = [](const Step& other) { return other.kind == StepKind::Arrive || other.kind == StepKind::Sync; };
        if (step.piece.count > 1)
          add("another piece in " + where, [&](Program& p) {
            Piece& piece = steps_of(p)[k].piece;
            piece.number = (piece.number + 1) % piece.count;
          });
        switch (step.kind) {
          case StepKind::Signal:
            drop();
            move("earlier", product_before(program, section.steps, k));
            break;
          case StepKind::AwaitReads:
            drop();
            move("later", next(section.steps, k, [&](const Step& s) { return uses_loaded(program, section.steps, k, s); }));
            break;
          case StepKind::AwaitWrites:
            drop();
            move("later", next(section.steps, k, tells));
            break;
          case StepKind::FenceBefore:
            drop();
            move("later", next(section.steps, k, tells));
            move("earlier", last(section.steps, k, touches));
            break;
          case StepKind::FenceAfter:
            drop();
            move("later", next(section.steps, k, touches));
            move("earlier", last(section.steps, k, [](const Step& s) { return s.kind == StepKind::Wait || s.kind == StepKind::Sync; }));
            break;
          case StepKind::Wait:
            drop();
            add("other phase " + where, [&](Program& p) { steps_of(p)[k].ahead ^= true; });
            if (step.fence) add("no fence behind " + where, [&](Program& p) { steps_of(p)[k].fence = false; });
            move("later", guarded(program, section.steps, k));
            break;
          case StepKind::Arrive:
            drop();
            add("once less " + where, [&](Program& p) { --steps_of(p)[k].count; });
            add("once more " + where, [&](Program& p) { ++steps_of(p)[k].count; });
            move("earlier", before(section.steps, k));
            break;
          case StepKind::Retire:
            if (comes_again(section.steps, k)) break;
            drop();
            add("one more in flight " + where, [&](Program& p) { ++steps_of(p)[k].keep; });
            break;
          case StepKind::TakeTurn:
          case StepKind::PassTurn:
          case StepKind::Commit:
          case StepKind::Advance: drop(); break;
          case StepKind::Sync:
            if (!comes_again(section.steps, k)) drop();
            break;
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
    const bool reaches_tensor = std::any_of(role.sections.begin(), role.sections.end(), [&](const Section& section) {
      return std::any_of(section.steps.begin(), section.steps.end(),
                         [&](const Step& s) { return s.kind == StepKind::Compute && touches_tensor(program, s); });
    });
    if (reaches_tensor) add(fmt::format("{} begins a warp later", role.name), [&](Program& p) { p.roles[r].first_thread += 32; });
    if (!role.variables.empty()) {
      add(fmt::format("registers of {} below what is live", role.name),
          [&](Program& p) { p.roles[r].registers = role.peak_registers / 8 * 8 - 8; });
      add(fmt::format("registers of {} beyond what is left", role.name),
          [&](Program& p) { p.roles[r].registers += 8 * static_cast<int>(p.roles.size()); });
    }
  }
  if (program.tensor) {
    add("half the columns", [](Program& p) { p.tensor->columns /= 2; });
    add("columns that nobody gives back", [](Program& p) { p.tensor->freed_by.reset(); });
  }
  for (std::size_t b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (!buffer.tensor()) continue;
    add(fmt::format("{} begins half a slot later", buffer.name), [&](Program& p) { p.buffers[b].offset += buffer.columns / 2; });
    add(fmt::format("one slot more for {}", buffer.name), [&](Program& p) { ++p.buffers[b].depth; });
    add(fmt::format("half the columns for {}", buffer.name), [&](Program& p) { p.buffers[b].columns /= 2; });
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
