#include "ptx/text/control.h"

#include <algorithm>
#include <cstddef>

namespace heddle::ptx {

namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// Blocks of a function and where they go on; the last node is the end.
struct BlockGraph {
  explicit BlockGraph(const std::vector<int>& leaders) : leaders(leaders), next(leaders.size() + 1), before(leaders.size() + 1) {}

  int end() const { return static_cast<int>(leaders.size()); }
  int block_of(int pc) const { return static_cast<int>(std::upper_bound(leaders.begin(), leaders.end(), pc) - leaders.begin()) - 1; }
  void add(int from, int to) {
    next[at(from)].push_back(to);
    before[at(to)].push_back(from);
  }

  const std::vector<int>& leaders;
  std::vector<std::vector<int>> next, before;
};

bool ends_block(const PtxInstruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Bra:
    case Opcode::Brx:
    case Opcode::Ret:
    case Opcode::Exit:
    case Opcode::Trap: return true;
    default: return false;
  }
}

void find_leaders(PtxFunction& function) {
  const std::size_t size = function.code.size();
  std::vector<bool> leads(size + 1, false);
  leads[0] = true;
  for (std::size_t pc = 0; pc < size; ++pc) {
    const PtxInstruction& instruction = function.code[pc];
    if (ends_block(instruction)) leads[pc + 1] = true;
    for (const int target : instruction.targets) leads[at(target)] = true;
  }
  function.leaders.clear();
  for (std::size_t pc = 0; pc < size; ++pc) {
    if (leads[pc]) function.leaders.push_back(static_cast<int>(pc));
  }
}

BlockGraph graph_of(const PtxFunction& function) {
  BlockGraph graph(function.leaders);
  const int size = static_cast<int>(function.code.size());
  const auto node = [&](int pc) { return pc >= size ? graph.end() : graph.block_of(pc); };
  for (int block = 0; block < graph.end(); ++block) {
    const int last = (block + 1 < graph.end() ? function.leaders[at(block + 1)] : size) - 1;
    const PtxInstruction& instruction = function.code[at(last)];
    const bool jumps = instruction.opcode == Opcode::Bra || instruction.opcode == Opcode::Brx;
    const bool leaves = ends_block(instruction) && !jumps;
    for (const int target : instruction.targets) graph.add(block, node(target));
    const bool guarded = instruction.guard.valid();
    // Where lanes trap, nobody goes on; a branch that cannot be read is refused where it is executed.
    if (leaves && !(guarded && instruction.opcode == Opcode::Trap)) graph.add(block, graph.end());
    if (!ends_block(instruction) || guarded || (jumps && instruction.targets.empty())) graph.add(block, node(last + 1));
  }
  return graph;
}

/// Of a graph in which every node leads to the end: its dominators when all edges are turned round, from the end. Nodes go by their number
/// in the order of a depth-first search.
class PostDominators {
 public:
  explicit PostDominators(BlockGraph& graph) : graph_(graph), size_(graph.next.size()), number_(size_, -1) {
    search(graph.end());
    for (int block = graph.end() - 1; block >= 0; --block) {
      if (number_[at(block)] >= 0) continue;
      graph.add(block, graph.end());
      search(block);
    }
    find();
  }
  /// Of a block: the node that it meets at.
  int operator[](int block) const { return node_[at(dominator_[at(number_[at(block)])])]; }

 private:
  void number(int node, int parent) {
    number_[at(node)] = static_cast<int>(node_.size());
    node_.push_back(node);
    parent_.push_back(parent);
  }

  void search(int root) {
    struct Step {
      int node;
      std::size_t edge;
    };
    number(root, 0);
    std::vector<Step> steps{{root, 0}};
    while (!steps.empty()) {
      Step& step = steps.back();
      const std::vector<int>& before = graph_.before[at(step.node)];
      if (step.edge == before.size()) {
        steps.pop_back();
        continue;
      }
      const int next = before[step.edge++];
      if (number_[at(next)] >= 0) continue;
      number(next, number_[at(step.node)]);
      steps.push_back({next, 0});
    }
  }

  /// The node with the least semidominator on the way up to the root of its tree; the way is made shorter.
  int least(int node) {
    if (ancestor_[at(node)] < 0) return node;
    path_.clear();
    for (int up = node; ancestor_[at(ancestor_[at(up)])] >= 0; up = ancestor_[at(up)]) path_.push_back(up);
    for (auto it = path_.rbegin(); it != path_.rend(); ++it) {
      const int above = ancestor_[at(*it)];
      if (semi_[at(label_[at(above)])] < semi_[at(label_[at(*it)])]) label_[at(*it)] = label_[at(above)];
      ancestor_[at(*it)] = ancestor_[at(above)];
    }
    return label_[at(node)];
  }

  void find() {
    const int size = static_cast<int>(node_.size());
    semi_.resize(at(size));
    label_.resize(at(size));
    for (int i = 0; i < size; ++i) semi_[at(i)] = label_[at(i)] = i;
    ancestor_.assign(at(size), -1);
    dominator_.assign(at(size), 0);
    std::vector<std::vector<int>> waiting(at(size));
    for (int i = size - 1; i > 0; --i) {
      for (const int next : graph_.next[at(node_[at(i)])]) semi_[at(i)] = std::min(semi_[at(i)], semi_[at(least(number_[at(next)]))]);
      waiting[at(semi_[at(i)])].push_back(i);
      const int parent = parent_[at(i)];
      ancestor_[at(i)] = parent;
      for (const int node : waiting[at(parent)]) {
        const int lowest = least(node);
        dominator_[at(node)] = semi_[at(lowest)] < semi_[at(node)] ? lowest : parent;
      }
      waiting[at(parent)].clear();
    }
    for (int i = 1; i < size; ++i) {
      if (dominator_[at(i)] != semi_[at(i)]) dominator_[at(i)] = dominator_[at(dominator_[at(i)])];
    }
  }

  BlockGraph& graph_;
  std::size_t size_;
  std::vector<int> number_, node_, parent_;  ///< of a node; of a number
  std::vector<int> semi_, label_, ancestor_, dominator_, path_;
};

}  // namespace

void find_meets(PtxFunction& function) {
  const int size = static_cast<int>(function.code.size());
  find_leaders(function);
  for (int pc = 0; pc < size; ++pc) function.code[at(pc)].meet = pc + 1;
  BlockGraph graph = graph_of(function);
  const PostDominators meets(graph);
  for (int block = 0; block < graph.end(); ++block) {
    const int last = (block + 1 < graph.end() ? function.leaders[at(block + 1)] : size) - 1;
    const int meet = meets[block];
    function.code[at(last)].meet = meet == graph.end() ? size : function.leaders[at(meet)];
  }
}

}  // namespace heddle::ptx
