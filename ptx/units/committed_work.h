// Work that one warp starts, commits in groups, and waits for in order: bulk stores and cp.async.
#pragma once

#include <algorithm>
#include <deque>

#include "ptx/run/cluster.h"

namespace heddle::ptx {

struct CommittedWork : UnitState {
  struct Group {
    Epoch last = 0;  ///< of the last piece of work in it, or before it
    Time end = 0;
  };

  Component component = 0;
  Epoch issued = 0;  ///< pieces of work so far; the last one's epoch
  Epoch over = 0;    ///< the last one that was waited for
  int pc = -1;       ///< of the last one issued
  bool open = false;
  Time open_end = 0;
  std::deque<Group> groups;  ///< committed and not waited for, oldest first

  Epoch issue(int at, Time end) {
    pc = at;
    open = true;
    open_end = std::max(open_end, end);
    return ++issued;
  }
  void commit() {
    groups.push_back({issued, std::max(open_end, groups.empty() ? 0 : groups.back().end)});
    open = false;
    open_end = 0;
  }
  /// All but the newest `left` groups are waited for: when they end.
  Time wait(std::size_t left) {
    Time end = 0;
    while (groups.size() > left) {
      end = std::max(end, groups.front().end);
      over = std::max(over, groups.front().last);
      groups.pop_front();
    }
    return end;
  }
};

}  // namespace heddle::ptx
