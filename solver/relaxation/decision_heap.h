// Open variables by activity, the most active on top; ties go to the smaller number, so that nothing depends on chance.
#pragma once

#include <vector>

namespace heddle::solver {

class DecisionHeap {
 public:
  explicit DecisionHeap(int variables) : activity_(variables, 0), place_(variables, -1) {
    for (int v = 0; v < variables; ++v) push(v);
  }

  bool empty() const { return heap_.empty(); }

  void push(int v) {
    if (place_[v] >= 0) return;
    heap_.push_back(v);
    up(static_cast<int>(heap_.size()) - 1);
  }

  int pop() {
    const int top = heap_.front(), last = heap_.back();
    place_[top] = -1;
    heap_.pop_back();
    if (!heap_.empty()) {
      heap_.front() = last;
      down(0);
    }
    return top;
  }

  void bump(int v) {
    if ((activity_[v] += step_) > 1e100) {
      for (double& a : activity_) a *= 1e-100;
      step_ *= 1e-100;
    }
    if (place_[v] >= 0) up(place_[v]);
  }
  void decay() { step_ /= 0.95; }

 private:
  bool above(int a, int b) const { return activity_[a] > activity_[b] || (activity_[a] == activity_[b] && a < b); }
  void put(int i, int v) {
    heap_[i] = v;
    place_[v] = i;
  }
  void up(int i) {
    const int v = heap_[i];
    for (; i > 0 && above(v, heap_[(i - 1) / 2]); i = (i - 1) / 2) put(i, heap_[(i - 1) / 2]);
    put(i, v);
  }
  void down(int i) {
    const int v = heap_[i], size = static_cast<int>(heap_.size());
    while (2 * i + 1 < size) {
      int child = 2 * i + 1;
      if (child + 1 < size && above(heap_[child + 1], heap_[child])) ++child;
      if (!above(heap_[child], v)) break;
      put(i, heap_[child]);
      i = child;
    }
    put(i, v);
  }

  std::vector<double> activity_;
  std::vector<int> heap_, place_;
  double step_ = 1;
};

}  // namespace heddle::solver
