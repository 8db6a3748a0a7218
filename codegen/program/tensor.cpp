// Tensor memory: tiles that live there as long as the loop, chains of ops that work on pieces of a tile, and what happens to
// accumulators before and after the loop.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/program/builder.h"

namespace heddle::codegen {
namespace {

/// Whose storage a value is.
const TileValue& root_of(const Kernel& kernel, const TileValue& value) {
  const TileValue* at = &value;
  while (!at->alias_of.empty())
    if (const TileValue* next = kernel.find_value(at->alias_of)) at = next;
  return *at;
}

bool is_zero_fill(const TileOp& op) {
  const auto value = op.attrs.find("value");
  if (value == op.attrs.end()) return true;
  const auto* text = std::get_if<std::string>(&value->second);
  const auto* whole = std::get_if<std::int64_t>(&value->second);
  return text ? *text == "0" || *text == "0.0" : whole && *whole == 0;
}

}  // namespace

// ---- in the loop

void Builder::keep_accumulators() {
  std::map<std::string, std::size_t> buffers;  // root -> buffer
  std::int64_t columns = 0;
  for (const Buffer& buffer : program_.buffers) columns += std::int64_t{buffer.columns} * buffer.depth;
  for (std::size_t i = 0; i < kernel_.values.size(); ++i) {
    const TileValue& value = kernel_.values[i];
    if (value.space != Space::Tmem || !body_value_[i].valid() || buffer_of_[i] != kNone) continue;
    const TileValue& root = root_of(kernel_, value);
    const auto [known, fresh] = buffers.try_emplace(root.name, program_.buffers.size());
    if (fresh) {
      Buffer buffer;
      buffer.name = root.name;
      buffer.columns = columns_of(kernel_, problem_.params, value_index(root.name)).count;
      buffer.per_tile = true;
      columns += buffer.columns;
      program_.buffers.push_back(std::move(buffer));
    }
    buffer_of_[i] = known->second;
    program_.buffers[known->second].values.push_back(i);
  }
  // Where only products touch an accumulator in the loop, the next tile's may begin while the epilogue reads this one's.
  for (const auto& [name, b] : buffers) {
    Buffer& buffer = program_.buffers[b];
    const auto in_it = [&, &held = b](const std::string& value) { return buffer_of_[value_index(value)] == held; };
    const bool products_only = std::none_of(kernel_.body.begin(), kernel_.body.end(), [&](const TileOp& op) {
      return op.kind != "mma" && (std::any_of(op.outputs.begin(), op.outputs.end(), in_it) ||
                                  std::any_of(op.inputs.begin(), op.inputs.end(), [&](const Operand& in) { return in_it(in.value); }));
    });
    if (!products_only || columns + buffer.columns > problem_.limits.tmem_columns) continue;
    buffer.depth = 2;
    columns += buffer.columns;
  }
}

bool Builder::awaits_accumulator(const PipelineLine& line) const {
  const std::size_t buffer = buffer_of_[value_index(problem_.value(line.value).name)];
  return buffer != kNone && is_accumulator(buffer) && line.distance <= 1;
}

void Builder::check_operands(OpId product, const Step& step) {
  const TileOp& op = body(product);
  const auto in_buffer = [&](const Place& p) { return p.kind == Place::Kind::Buffer && !program_.buffers[p.index].registers; };
  if (!in_buffer(step.output) || !program_.buffers[step.output.index].tensor())
    return refuse("product_place", {op.name},
                  fmt::format("'{}' leaves its result in registers; tcgen05 needs it in tensor memory", op.name));
  if (!in_buffer(step.inputs.at(0)) || !in_buffer(step.inputs.at(1)) || program_.buffers[step.inputs[1].index].tensor())
    return refuse(
        "product_place", {op.name},
        fmt::format("'{}' takes an operand from registers, or its second one from tensor memory; tcgen05 takes the first from shared "
                    "or tensor memory and the second from shared memory",
                    op.name));
  if (step.inputs.size() > 2 && (step.inputs[2].kind != Place::Kind::Buffer || step.inputs[2].index != step.output.index))
    refuse("accumulator_place", {op.name},
           fmt::format("'{}' adds to '{}', which does not lie where its result goes", op.name, op.inputs[2].value));
}

int Builder::pieces_at_once(std::size_t value) const {
  const std::size_t role = role_of(problem_.value(body_value_[value]).producer);
  return role < staging_.pieces_at_once.size() ? staging_.pieces_at_once[role] : 1;
}

int Builder::pieces_of_value(std::size_t value) const {
  if (!program_.blackwell() || !is_register(value) || !body_value_[value].valid() || kernel_.values[value].shape.size() != 2) return 1;
  const auto whole = registers_per_thread(*tiles_[value], std::int64_t{4} * kThreadsPerWarp);
  const std::int64_t piece = problem_.value(body_value_[value]).registers;
  if (piece <= 0 || whole <= piece || whole % piece != 0) return 1;
  const auto count = static_cast<int>(whole / piece), at_once = pieces_at_once(value);
  return count % at_once == 0 ? count / at_once : at_once > count ? 1 : count;
}

int Builder::pieces_in_loop(OpId op) const {
  int pieces = 1;
  for (const std::string& out : body(op).outputs) pieces = std::max(pieces, pieces_of_value(value_index(out)));
  for (const Operand& in : body(op).inputs) pieces = std::max(pieces, pieces_of_value(value_index(in.value)));
  return pieces;
}

std::vector<PipelineLine> Builder::free_after_writing(std::vector<PipelineLine> lines) const {
  using Kind = PipelineLine::Kind;
  const auto time = [&](const PipelineLine& line) { return line.stage * schedule_.ii + line.slot; };
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const PipelineLine release = lines[k];
    if (release.kind != Kind::Release || release.hardware || problem_.channel(release.channel).space != Space::Tmem) continue;
    std::size_t last = k;
    for (std::size_t n = 0; n < lines.size(); ++n) {
      const PipelineLine& line = lines[n];
      if (line.kind != Kind::Issue && line.kind != Kind::Commit) continue;
      const auto& values = problem_.channel(release.channel).values;
      const bool writes = std::any_of(values.begin(), values.end(), [&](ValueId v) { return problem_.value(v).producer == line.op; });
      if (writes && !problem_.op(line.op).asynchronous && time(line) >= time(lines[last])) last = n;
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

std::vector<PipelineLine> Builder::tell_early(std::vector<PipelineLine> lines) const {
  using Kind = PipelineLine::Kind;
  if (!program_.blackwell()) return lines;
  for (std::size_t k = 1; k < lines.size(); ++k) {
    const PipelineLine told = lines[k];
    const bool by_threads = (told.kind == Kind::Commit || told.kind == Kind::Release) && !told.hardware;
    if (!by_threads) continue;
    // What it must wait for first goes with it.
    std::size_t from = k;
    while (from > 0 && lines[from - 1].kind == Kind::Retire && lines[from - 1].op == told.op && lines[from - 1].slot == told.slot) --from;
    if (problem_.op(told.op).asynchronous && from == k) continue;
    // The work before it, of another op, that is still being issued when it is due.
    std::size_t work = from;
    while (work > 0 && lines[work].kind != Kind::Issue) --work;
    const PipelineLine& long_one = lines[work];
    if (long_one.kind != Kind::Issue || long_one.op == told.op) continue;
    const Cycle early = told.slot - long_one.slot, late = long_one.slot + problem_.op(long_one.op).window - told.slot;
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

std::vector<Builder::PieceLine> Builder::put_chains_together(const std::vector<PipelineLine>& lines) {
  using Kind = PipelineLine::Kind;
  // The last op of every chain: it takes pieces and makes none.
  std::map<OpId, std::vector<OpId>> chains;
  std::map<OpId, OpId> last_of;
  const auto makes_pieces = [&](OpId op) {
    return std::any_of(body(op).outputs.begin(), body(op).outputs.end(),
                       [&](const std::string& out) { return pieces_of_value(value_index(out)) > 1; });
  };
  for (const PipelineLine& line : lines) {
    if (line.kind != Kind::Issue || pieces_in_loop(line.op) == 1 || makes_pieces(line.op)) continue;
    std::vector<OpId>& chain = chains[line.op];
    const auto collect = [&](auto&& self, OpId op) -> void {
      for (const Operand& in : body(op).inputs) {
        const std::size_t value = value_index(in.value);
        if (pieces_of_value(value) == 1) continue;
        const OpId maker = problem_.value(body_value_[value]).producer;
        if (std::find(chain.begin(), chain.end(), maker) != chain.end()) continue;
        const auto [other, fresh] = last_of.try_emplace(maker, line.op);
        if (!fresh || in.distance > 0 || pieces_in_loop(maker) != pieces_in_loop(line.op))
          refuse("pieces", {name(maker), name(line.op)},
                 fmt::format("'{}' holds a piece of a tile at a time, and not only '{}' of the same iteration uses it", name(maker),
                             name(line.op)));
        else if (role_of(maker) != role_of(line.op))
          refuse("pieces", {name(maker), name(line.op)},
                 fmt::format("'{}' holds a piece of a tile at a time, and '{}' takes it in another role", name(maker), name(line.op)),
                 same_group({name(maker), name(line.op)}));
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
    const auto loads = [&](OpId op) { return body(op).kind == "tmem_load"; };
    if (line.kind != Kind::Issue || chain == chains.end()) {
      const bool first_load = moves && line.kind == Kind::Issue && loads(line.op);  // stays where the schedule has it
      if (!moves || first_load) together.push_back({line, first_load ? Piece{0, pieces_in_loop(line.op)} : Piece{}});
      continue;
    }
    // A piece's load is under way while the piece before is worked on.
    const int count = pieces_in_loop(chain->first);
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

void Builder::note_rewritten() {
  for (const Channel& channel : problem_.channels) {
    if (channel.space != Space::Tmem) continue;
    for (std::size_t k = 1; k < channel.values.size(); ++k)
      for (std::size_t r = 0; r < drafts_.size(); ++r)
        if (role_of(problem_.value(channel.values[k]).producer) != r)
          drafts_[r].rewritten.insert(buffer_of_[value_index(problem_.value(channel.values[k]).name)]);
  }
}

// ---- before and after the loop

std::size_t Builder::first_writer(std::size_t buffer) const {
  std::size_t role = kNone;
  for (const auto& [filled, by] : fills_)
    if (filled == buffer) return by;
  for (const std::size_t value : program_.buffers[buffer].values) {
    const OpId producer = problem_.value(body_value_[value]).producer;
    if (engine_of(problem_, producer) == Engine::Mma) role = role_of(producer);
  }
  return role;
}

void Builder::fill_accumulator(std::size_t index) {
  const TileOp& op = kernel_.prologue[index];
  const std::size_t value = value_index(op.outputs[0]), buffer = buffer_of_[value];
  if (op.kind != "fill" || buffer == kNone)
    return refuse("prologue_kind", {op.name}, fmt::format("'{}' fills tensor memory before the loop; only fill does so here", op.name));
  std::size_t role = kNone;
  for (std::size_t k = 0; k < kernel_.body.size(); ++k)
    for (const Operand& in : kernel_.body[k].inputs) {
      if (in.distance == 0 || value_index(in.value) != value || kernel_.body[k].kind == "mma") continue;
      if (role != kNone && role != role_of(OpId(k)))
        refuse("prologue_kind", {op.name}, fmt::format("two roles read what '{}' fills in tensor memory before the loop", op.name));
      role = role_of(OpId(k));
    }
  // The first product of a tile does not add where the sum begins with zero.
  if (role == kNone) {
    if (!is_zero_fill(op))
      refuse("prologue_kind", {op.name}, fmt::format("'{}' fills an accumulator with something else than zero", op.name));
    return;
  }
  fills_.emplace_back(buffer, role);
  Step step = tile_step(StepKind::Compute, {OpRef::List::Prologue, index});
  step.output = {Place::Kind::Buffer, buffer, 0, depth_of(buffer), value, -1};
  drafts_[role].begin.push_back(std::move(step));
}

std::vector<std::size_t> Builder::roles_for_tiles() {
  // Ops that hand registers to each other are done by one role: that of what they take from the loop.
  std::vector<std::size_t> role(kernel_.epilogue.size(), kNone);
  std::map<std::string, std::size_t> maker;
  for (bool changed = true; changed;) {
    changed = false;
    maker.clear();
    for (std::size_t i = 0; i < kernel_.epilogue.size(); ++i) {
      const TileOp& op = kernel_.epilogue[i];
      const auto take = [&](std::size_t from) {
        if (role[i] == kNone && from != kNone) role[i] = from, changed = true;
      };
      for (const Operand& in : op.inputs) {
        const std::size_t value = value_index(in.value);
        if (const auto own = maker.find(in.value); own != maker.end() && in.distance == 0) {
          take(role[own->second]);
          if (role[own->second] == kNone && role[i] != kNone) role[own->second] = role[i], changed = true;
        } else if (is_register(value) && body_value_[value].valid()) {
          take(role_of(problem_.value(body_value_[value]).producer));
        }
      }
      for (const std::string& out : op.outputs) maker[out] = i;
    }
  }
  return role;
}

std::size_t Builder::role_for_accumulator(std::size_t value) {
  const std::size_t issuer = role_of(problem_.value(body_value_[value]).producer);
  for (std::size_t r = 0; r < drafts_.size() && staging_.overlay; ++r)
    if (warps_of(r) == 4 && !tiles_to_overlay(r).empty()) return r;
  if (warps_of(issuer) == 4) return issuer;
  for (std::size_t r = drafts_.size(); r-- > 0;)
    if (warps_of(r) == 4) return r;
  // None of the schedule's groups has threads for it.
  RoleDraft& draft = drafts_.emplace_back();
  draft.role.name = "epilogue";
  draft.role.warps = 4;
  draft.role.warpgroups = 1;
  variable_of_.emplace_back(kernel_.values.size(), kNone);
  return drafts_.size() - 1;
}

std::vector<std::size_t> Builder::tiles_to_overlay(std::size_t role) const {
  std::vector<std::size_t> tiles;
  for (const auto& [value, roles] : readers_)
    if (roles.size() == 1 && roles.contains(role) && tiles.size() < 2) tiles.push_back(buffer_of_[value]);
  return tiles;
}

void Builder::overlay_tiles() {
  for (std::size_t i = 0; i < kernel_.epilogue.size(); ++i) {
    const TileOp& op = kernel_.epilogue[i];
    if (op.kind != "smem_store") continue;
    for (const std::size_t b : tiles_to_overlay(epilogue_role_[i])) overlaid_.insert(b);
  }
  // Threads give such a tile back, when the store has read it, and not the product that reads it last.
  for (auto& [role, step] : release_) {
    Barrier& barrier = program_.barriers[step.barrier];
    if (!overlaid_.contains(barrier.buffer)) continue;
    step.kind = StepKind::Arrive;
    step.count = barrier.arrivals = warps_of(role);
  }
}

void Builder::hand_over_accumulators() {
  for (std::size_t b = 0; b < program_.buffers.size(); ++b) {
    if (!is_accumulator(b)) continue;
    std::set<std::size_t> readers;
    std::set<std::size_t> values;
    for (std::size_t i = 0; i < kernel_.epilogue.size(); ++i)
      for (const Operand& in : kernel_.epilogue[i].inputs)
        if (buffer_of_[value_index(in.value)] == b) readers.insert(epilogue_role_[i]), values.insert(value_index(in.value));
    if (readers.empty()) continue;
    for (const std::size_t value : values) {
      const OpId producer = problem_.value(body_value_[value]).producer;
      if (engine_of(problem_, producer) != Engine::Mma) {
        refuse("epilogue_reads_ring", {name(producer)},
               fmt::format("'{}', which threads write, is read out of tensor memory after the loop", kernel_.values[value].name));
        continue;
      }
      program_.barriers.push_back({true, b, value, 1, 0, true});
      tile_full_[value] = program_.barriers.size() - 1;
      Step done = on_barrier(StepKind::Signal, {OpRef::List::Body, producer.index()}, tile_full_[value]);
      done.cursor = depth_of(b);
      drafts_[role_of(producer)].end.push_back(std::move(done));
    }
    const std::size_t first = first_writer(b);
    if (readers.size() == 1 && *readers.begin() == first && program_.buffers[b].depth == 1) continue;
    int warps = 0;
    for (const std::size_t r : readers) warps += warps_of(r);
    program_.barriers.push_back({false, b, program_.buffers[b].values.front(), warps, 0, true});
    program_.buffers[b].empty = program_.barriers.size() - 1;
    Step free = on_barrier(StepKind::Wait, {OpRef::List::Body, problem_.value(body_value_[*values.begin()]).producer.index()},
                           program_.barriers.size() - 1);
    free.cursor = depth_of(b);
    free.ahead = true;
    auto& begin = drafts_[first].begin;
    begin.insert(begin.begin(), std::move(free));
  }
}

bool Builder::works_on_tile(std::size_t i) const {
  const TileOp& op = kernel_.epilogue[i];
  if (!uses_tensor_memory() || op.outputs.empty()) return false;
  const std::size_t value = value_index(op.outputs[0]);
  return is_register(value) && kernel_.values[value].shape.size() == 2;
}

std::vector<std::size_t> Builder::tile_chain(std::size_t store) const {
  std::vector<std::size_t> chain;
  const auto collect = [&](auto&& self, std::size_t i) -> void {
    for (const Operand& in : kernel_.epilogue[i].inputs) {
      const auto maker = made_by_.find(value_index(in.value));
      if (maker == made_by_.end() || maker->second >= i || !works_on_tile(maker->second)) continue;
      if (std::find(chain.begin(), chain.end(), maker->second) == chain.end()) self(self, maker->second);
    }
    if (i != store) chain.push_back(i);
  };
  collect(collect, store);
  return chain;
}

void Builder::store_tile(std::size_t i, Step stage) {
  const std::size_t role = epilogue_role_[i];
  auto& end = drafts_[role].end;
  const TileOp& op = kernel_.epilogue[i];
  const std::size_t value = value_index(op.outputs[0]);
  Pieces pieces = pieces_of(i);
  if (pieces.store == kNone)
    return refuse("epilogue_kind", {op.name},
                  fmt::format("'{}' does not put a tile together for one store of panels of 128 bytes", op.name));
  const std::vector<std::size_t> chain = tile_chain(i);
  std::map<std::size_t, std::size_t> last_read;  // buffer -> op of the chain
  for (const std::size_t k : chain) {
    const TileOp& member = kernel_.epilogue[k];
    if (member.kind == "load" || member.kind == "smem_load" || member.kind == "mask")
      return refuse(
          "epilogue_kind", {member.name},
          fmt::format("'{}' is a {} of a whole tile after the loop, which goes through registers in pieces", member.name, member.kind));
    for (const Operand& in : member.inputs)
      if (const std::size_t b = buffer_of_[value_index(in.value)]; b != kNone && program_.buffers[b].tensor()) last_read[b] = k;
    Variable& made = drafts_[role].role.variables[variable(role, value_index(member.outputs[0]))];
    made.registers =
        static_cast<int>((registers_per_thread(*tiles_[made.value], std::int64_t{4} * kThreadsPerWarp) + pieces.count - 1) / pieces.count);
  }
  std::set<std::size_t> awaited;
  std::vector<std::size_t> rooms;
  if (staging_.overlay) rooms = tiles_to_overlay(role);
  std::erase_if(rooms, [&](std::size_t b) { return program_.buffers[b].slot_bytes * pieces.count < tiles_[value]->bytes; });
  const bool overlay = !rooms.empty();
  for (const std::size_t b : rooms) program_.buffers[b].values.push_back(value);
  for (int room = 0; room < pieces.rooms && !overlay; ++room) {
    rooms.push_back(program_.buffers.size());
    program_.buffers.push_back(room_for(value, pieces.count));
  }
  const OpRef store{OpRef::List::Epilogue, pieces.store};
  in_pieces_.insert(pieces.store);
  for (int number = 0; number < pieces.count; ++number) {
    const Piece piece{number, pieces.count};
    for (const std::size_t k : chain) {
      Step step = tile_step(StepKind::Compute, {OpRef::List::Epilogue, k});
      step.piece = piece;
      for (const Operand& in : kernel_.epilogue[k].inputs) {
        const auto place = epilogue_place(role, k, in);
        if (!place) return;
        if (place->kind == Place::Kind::Buffer && awaited.insert(place->value).second) {
          // The signal is one for all products of its role, also for those that read the tiles.
          if (role_of(problem_.value(body_value_[place->value]).producer) == role) products_over_.insert(role);
          Step wait = on_barrier(StepKind::Wait, step.op, tile_full_.at(place->value));
          wait.cursor = depth_of(place->index);
          end.push_back(std::move(wait));
        }
        step.inputs.push_back(*place);
      }
      const std::size_t out = value_index(kernel_.epilogue[k].outputs[0]);
      step.output = {Place::Kind::Variable, variable(role, out), 0, 0, out, kPerTile};
      end.push_back(std::move(step));
      if (number + 1 < pieces.count) continue;
      for (const auto& [b, reader] : last_read)
        if (reader == k && program_.buffers[b].empty) {
          Step free = on_barrier(StepKind::Arrive, {OpRef::List::Epilogue, k}, *program_.buffers[b].empty, warps_of(role));
          free.cursor = depth_of(b);
          end.push_back(std::move(free));
        }
    }
    if (overlay && !products_over_.contains(role))
      return refuse("epilogue_kind", {op.name},
                    fmt::format("'{}' would lie where products of the role may still read, which it does not wait for", op.name));
    // Whoever was there last, of this tile or the one before, must be out.
    Step out = tile_step(StepKind::Retire, stage.op, Engine::Store);
    out.keep = static_cast<int>(rooms.size()) - 1;
    end.push_back(std::move(out));
    end.push_back(tile_step(StepKind::Sync, stage.op));
    stage.output = {Place::Kind::Buffer, rooms[static_cast<std::size_t>(number) % rooms.size()], 0, 1, value, kPerTile};
    stage.piece = piece;
    end.push_back(stage);
    end.push_back(tile_step(StepKind::Sync, stage.op));
    Step issue = tile_step(StepKind::Issue, store, Engine::Store);
    issue.inputs = {stage.output};
    issue.piece = piece;
    end.push_back(std::move(issue));
    end.push_back(tile_step(StepKind::Commit, store, Engine::Store));
  }
}

}  // namespace heddle::codegen
