// Who hears how it goes while a question is worked on: a line on a terminal, a window.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/text_style.h"
#include "solver/search/solve.h"

namespace heddle::app {

/// Whoever hears takes what fits; what is empty is as before.
struct News {
  std::string doing{};               ///< what is done now, in a few words that stand alone
  std::vector<std::string> facts{};  ///< the same as facts side by side
  std::string line{};                ///< worth a line of its own where all is told
  bool early = false;                ///< that line is a part of the answer, known already
};

template <class Answer>
struct Listener {
  /// `so_far`: the answer as far as it has come; null where it has not grown. It dies with the call.
  std::function<void(const News&, const Answer* so_far)> heard{};
  solver::SolveListener solve{};  ///< of the search for a schedule that is at work
  TextStyle style{};              ///< of the lines

  void tell(const News& news, const Answer* so_far = nullptr) const {
    if (heard) heard(news, so_far);
  }
};

}  // namespace heddle::app
