#include "codegen/program/pieces.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace heddle::codegen {
namespace {

/// In how many pieces an op works; 1: at once.
int pieces_in_loop(const ProgramDraft& draft, OpId op) {
  int pieces = 1;
  for (const std::string& out : draft.body(op).outputs) pieces = std::max(pieces, pieces_of_value(draft, draft.value_index(out)));
  for (const Operand& in : draft.body(op).inputs) pieces = std::max(pieces, pieces_of_value(draft, draft.value_index(in.value)));
  return pieces;
}

}  // namespace

int pieces_at_once(const ProgramDraft& draft, std::size_t value) {
  const std::size_t role = draft.role_of(draft.problem.value(draft.body_value[value]).producer);
  return role < draft.staging.pieces_at_once.size() ? draft.staging.pieces_at_once[role] : 1;
}

int pieces_of_value(const ProgramDraft& draft, std::size_t value) {
  if (!draft.program.blackwell() || !draft.is_register(value) || !draft.body_value[value].valid() ||
      draft.kernel.values[value].shape.size() != 2)
    return 1;
  const auto whole = registers_per_thread(*draft.tiles[value], std::int64_t{4} * kThreadsPerWarp);
  const std::int64_t piece = draft.problem.value(draft.body_value[value]).registers;
  if (piece <= 0 || whole <= piece || whole % piece != 0) return 1;
  const auto count = static_cast<int>(whole / piece), at_once = pieces_at_once(draft, value);
  return count % at_once == 0 ? count / at_once : at_once > count ? 1 : count;
}

std::vector<PipelineLine> free_after_writing(const ProgramDraft& draft, std::vector<PipelineLine> lines) {
  using Kind = PipelineLine::Kind;
  const auto time = [&](const PipelineLine& line) { return line.stage * draft.schedule.ii + line.slot; };
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const PipelineLine release = lines[k];
    if (release.kind != Kind::Release || release.hardware || draft.problem.channel(release.channel).space != Space::Tmem) continue;
    std::size_t last = k;
    for (std::size_t n = 0; n < lines.size(); ++n) {
      const PipelineLine& line = lines[n];
      if (line.kind != Kind::Issue && line.kind != Kind::Commit) continue;
      const auto& values = draft.problem.channel(release.channel).values;
      const bool writes = std::any_of(values.begin(), values.end(), [&](ValueId v) { return draft.problem.value(v).producer == line.op; });
      if (writes && !draft.problem.op(line.op).asynchronous && time(line) >= time(lines[last])) last = n;
    }
    if (last == k) continue;
    PipelineLine moved = release;
    moved.stage = lines[last].stage;
    moved.slot = lines[last].slot;
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(last) + 1, moved);
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(last < k ? k + 1 : k));
    if (last > k) --k;
  }
  return lines;
}

std::vector<PipelineLine> tell_early(const ProgramDraft& draft, std::vector<PipelineLine> lines) {
  using Kind = PipelineLine::Kind;
  if (!draft.program.blackwell()) return lines;
  for (std::size_t k = 1; k < lines.size(); ++k) {
    const PipelineLine told = lines[k];
    const bool by_threads = (told.kind == Kind::Commit || told.kind == Kind::Release) && !told.hardware;
    if (!by_threads) continue;
    // What it must wait for first goes with it.
    std::size_t from = k;
    while (from > 0 && lines[from - 1].kind == Kind::Retire && lines[from - 1].op == told.op && lines[from - 1].slot == told.slot) --from;
    if (draft.problem.op(told.op).asynchronous && from == k) continue;
    // The work before it, of another op, that is still being issued when it is due.
    std::size_t work = from;
    while (work > 0 && lines[work].kind != Kind::Issue) --work;
    const PipelineLine& long_one = lines[work];
    if (long_one.kind != Kind::Issue || long_one.op == told.op) continue;
    const Cycle early = told.slot - long_one.slot, late = long_one.slot + draft.problem.op(long_one.op).window - told.slot;
    if (early < 0 || late <= early) continue;
    // Before that work and what it waits for.
    std::size_t to = work;
    while (to > 0 && lines[to - 1].op == long_one.op && lines[to - 1].kind != Kind::Issue) --to;
    for (std::size_t m = from; m <= k; ++m) lines[m].slot = lines[work].slot;
    std::rotate(lines.begin() + static_cast<std::ptrdiff_t>(to), lines.begin() + static_cast<std::ptrdiff_t>(from),
                lines.begin() + static_cast<std::ptrdiff_t>(k) + 1);
  }
  return lines;
}

std::vector<PieceLine> put_chains_together(ProgramDraft& draft, const std::vector<PipelineLine>& lines) {
  using Kind = PipelineLine::Kind;
  // The last op of every chain: it takes pieces and makes none.
  std::map<OpId, std::vector<OpId>> chains;
  std::map<OpId, OpId> last_of;
  const auto makes_pieces = [&](OpId op) {
    return std::any_of(draft.body(op).outputs.begin(), draft.body(op).outputs.end(),
                       [&](const std::string& out) { return pieces_of_value(draft, draft.value_index(out)) > 1; });
  };
  for (const PipelineLine& line : lines) {
    if (line.kind != Kind::Issue || pieces_in_loop(draft, line.op) == 1 || makes_pieces(line.op)) continue;
    std::vector<OpId>& chain = chains[line.op];
    const auto collect = [&](auto&& self, OpId op) -> void {
      for (const Operand& in : draft.body(op).inputs) {
        const std::size_t value = draft.value_index(in.value);
        if (pieces_of_value(draft, value) == 1) continue;
        const OpId maker = draft.problem.value(draft.body_value[value]).producer;
        if (std::find(chain.begin(), chain.end(), maker) != chain.end()) continue;
        const auto [other, fresh] = last_of.try_emplace(maker, line.op);
        if (!fresh || in.distance > 0 || pieces_in_loop(draft, maker) != pieces_in_loop(draft, line.op))
          draft.refuse("pieces", {draft.name(maker), draft.name(line.op)},
                       fmt::format("'{}' holds a piece of a tile at a time, and not only '{}' of the same iteration uses it",
                                   draft.name(maker), draft.name(line.op)));
        else if (draft.role_of(maker) != draft.role_of(line.op))
          draft.refuse("pieces", {draft.name(maker), draft.name(line.op)},
                       fmt::format("'{}' holds a piece of a tile at a time, and '{}' takes it in another role", draft.name(maker),
                                   draft.name(line.op)),
                       same_group({draft.name(maker), draft.name(line.op)}));
        else
          self(self, maker);
      }
      chain.push_back(op);
    };
    collect(collect, line.op);
  }
  std::vector<PieceLine> together;
  std::map<OpId, std::vector<PipelineLine>> held;
  for (const PipelineLine& line : lines)
    if (last_of.contains(line.op) && (line.kind == Kind::Release || line.kind == Kind::Commit)) held[last_of.at(line.op)].push_back(line);
  for (const PipelineLine& line : lines) {
    const bool moves = last_of.contains(line.op) && (line.kind == Kind::Issue || line.kind == Kind::Release || line.kind == Kind::Commit);
    const auto chain = chains.find(line.op);
    const auto loads = [&](OpId op) { return draft.body(op).kind == "tmem_load"; };
    if (line.kind != Kind::Issue || chain == chains.end()) {
      const bool first_load = moves && line.kind == Kind::Issue && loads(line.op);  // stays where the schedule has it
      if (!moves || first_load) together.push_back({line, first_load ? Piece{0, pieces_in_loop(draft, line.op)} : Piece{}});
      continue;
    }
    // A piece's load is under way while the piece before is worked on.
    const int count = pieces_in_loop(draft, chain->first);
    const auto put = [&](OpId op, int number) {
      PipelineLine piece = line;
      piece.op = op;
      if (number < count) together.push_back({piece, {number, count}});
    };
    for (int number = 0; number < count; ++number) {
      for (const OpId op : chain->second)
        if (loads(op)) put(op, number + 1);
      for (const OpId op : chain->second)
        if (!loads(op)) put(op, number);
    }
    for (PipelineLine after : held[chain->first]) {
      after.stage = line.stage;
      after.slot = line.slot;
      together.push_back({after, {}});
    }
  }
  return together;
}

}  // namespace heddle::codegen
