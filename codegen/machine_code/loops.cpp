// Dominators by K. Cooper, T. Harvey, K. Kennedy, "A Simple, Fast Dominance Algorithm", 2001.
#include "codegen/machine_code/loops.h"

#include <algorithm>
#include <map>
#include <utility>

#include "codegen/machine_code/opcode.h"

namespace heddle::codegen {
namespace {

constexpr int kUniformBranchKey = 0x547, kBranchCode = 0x147, kExitCode = 0x14d;
constexpr std::size_t kUnreachable = static_cast<std::size_t>(-1);

bool always(const MachineInstruction& instruction) {  // all predicates are the one that is true
  if (instruction.key() == kUniformBranchKey && (instruction.low >> 24 & 0xf) != 7) return false;
  return (instruction.low >> 12 & 0xf) == 7 && (instruction.high >> 23 & 0xf) == 7;
}

struct Block {
  std::size_t first = 0, last = 0;  ///< instructions, both included
  std::vector<std::size_t> after, before;
};

struct Flow {
  std::vector<Block> blocks;
  std::vector<std::size_t> order;      ///< of the reachable ones, reverse postorder
  std::vector<std::size_t> rank;       ///< in `order`; kUnreachable: unreachable
  std::vector<std::size_t> dominator;  ///< the nearest; of the first block itself
};

Flow flow_of(const std::vector<MachineInstruction>& code) {
  std::vector<bool> begins(code.size() + 1, false);
  begins[0] = true;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const int kind = code[i].key() & 0x1ff;
    if (kind == kBranchCode || kind == kExitCode) begins[i + 1] = true;
    if (const auto target = branch_target(code, i)) begins[*target] = true;
  }
  Flow flow;
  std::vector<std::size_t> block_at(code.size(), 0);
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (begins[i]) flow.blocks.push_back({i, i, {}, {}});
    flow.blocks.back().last = i;
    block_at[i] = flow.blocks.size() - 1;
  }
  for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
    const std::size_t last = flow.blocks[b].last;
    const int kind = code[last].key() & 0x1ff;
    const auto link = [&](std::size_t to) {
      flow.blocks[b].after.push_back(to);
      flow.blocks[to].before.push_back(b);
    };
    if (const auto target = branch_target(code, last)) link(block_at[*target]);
    if (!((kind == kBranchCode || kind == kExitCode) && always(code[last])) && b + 1 < flow.blocks.size()) link(b + 1);
  }
  // Postorder without recursion.
  std::vector<std::pair<std::size_t, std::size_t>> stack{{0, 0}};
  std::vector<bool> seen(flow.blocks.size(), false);
  seen[0] = true;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    if (next < flow.blocks[block].after.size()) {
      const std::size_t to = flow.blocks[block].after[next++];
      if (!seen[to]) {
        seen[to] = true;
        stack.emplace_back(to, 0);
      }
      continue;
    }
    flow.order.push_back(block);
    stack.pop_back();
  }
  std::reverse(flow.order.begin(), flow.order.end());
  flow.rank.assign(flow.blocks.size(), kUnreachable);
  for (std::size_t r = 0; r < flow.order.size(); ++r) flow.rank[flow.order[r]] = r;
  flow.dominator.assign(flow.blocks.size(), kUnreachable);
  flow.dominator[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::size_t block : flow.order) {
      if (block == 0) continue;
      std::size_t nearest = kUnreachable;
      for (std::size_t from : flow.blocks[block].before) {
        if (flow.dominator[from] == kUnreachable) continue;
        if (nearest == kUnreachable) nearest = from;
        while (from != nearest) {
          while (flow.rank[from] > flow.rank[nearest]) from = flow.dominator[from];
          while (flow.rank[nearest] > flow.rank[from]) nearest = flow.dominator[nearest];
        }
      }
      if (flow.dominator[block] == nearest) continue;
      flow.dominator[block] = nearest;
      changed = true;
    }
  }
  return flow;
}

bool dominates(const Flow& flow, std::size_t head, std::size_t block) {
  while (block != head && block != 0) block = flow.dominator[block];
  return block == head;
}

/// Asks a barrier again and again, or jumps back from where the compiler put that.
bool spins(const std::vector<MachineInstruction>& code, const Flow& flow, std::size_t b) {
  const Block& block = flow.blocks[b];
  if (std::find(block.after.begin(), block.after.end(), b) != block.after.end()) {
    for (std::size_t i = block.first; i <= block.last; ++i)
      if (const OpClass what = class_of(code[i]); what != OpClass::Branch && what != OpClass::BarrierWait) return false;
    return true;
  }
  return block.first == block.last && class_of(code[block.first]) == OpClass::Branch && block.before.size() == 1 &&
         block.after.size() == 1 && block.after[0] < b;
}

}  // namespace

std::vector<MachineLoop> find_loops(const std::vector<MachineInstruction>& code) {
  if (code.empty()) return {};
  const Flow flow = flow_of(code);
  std::map<std::size_t, std::vector<bool>> bodies;  // by head
  for (const std::size_t from : flow.order)
    for (const std::size_t head : flow.blocks[from].after) {
      if (!dominates(flow, head, from)) continue;
      auto& body = bodies.try_emplace(head, std::vector<bool>(flow.blocks.size(), false)).first->second;
      body[head] = true;
      std::vector<std::size_t> open{from};
      while (!open.empty()) {
        const std::size_t block = open.back();
        open.pop_back();
        if (body[block] || flow.rank[block] == kUnreachable) continue;
        body[block] = true;
        for (const std::size_t before : flow.blocks[block].before) open.push_back(before);
      }
    }
  std::vector<MachineLoop> loops;
  for (const auto& [head, body] : bodies) {
    MachineLoop loop;
    for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
      if (!body[b]) continue;
      std::vector<std::size_t>& into = spins(code, flow, b) ? loop.left_out : loop.instructions;
      for (std::size_t i = flow.blocks[b].first; i <= flow.blocks[b].last; ++i) into.push_back(i);
    }
    for (const std::size_t b : flow.order)
      if (body[b] && !spins(code, flow, b))
        for (std::size_t i = flow.blocks[b].first; i <= flow.blocks[b].last; ++i) loop.flow.push_back(i);
    if (!loop.instructions.empty()) loops.push_back(std::move(loop));
  }
  return loops;
}

std::vector<std::size_t> one_pass(const std::vector<MachineInstruction>& code, const MachineLoop& loop,
                                  const std::function<bool(std::size_t, std::size_t)>& skipped) {
  std::vector<bool> inside(code.size() + 1, false), waits(code.size(), false), seen(code.size(), false);
  for (const std::size_t i : loop.instructions) inside[i] = true;
  for (const std::size_t i : loop.left_out) inside[i] = waits[i] = true;
  std::vector<std::size_t> pass;
  for (std::size_t at = loop.flow.front(); inside[at] && !seen[at];) {
    seen[at] = true;
    pass.push_back(at);
    const auto target = branch_target(code, at);
    const bool over = inside[at + 1];
    if (!target || (over && !always(code[at]) && !(*target > at && inside[*target] && !waits[*target] && skipped(at + 1, *target))))
      ++at;
    else
      at = *target;
  }
  return pass;
}

}  // namespace heddle::codegen
