// Where an op of a Triton kernel comes from, in words: names and line in the compiler's text, line in the source program, and what Triton
// decided about it.
#pragma once

#include <string>

#include "app/session/triton_origins.h"

namespace heddle::app {

struct TritonOpModel {
  std::string names;     ///< "%qk, %m_ij"; empty: nothing of the text's
  std::string decision;  ///< "stage 1, cluster 2, partition 0"; may be empty
  int text_line = 0;     ///< in the TTGIR text
  std::string file;      ///< of the source program, as the text names it
  int line = 0;          ///< there; 0: not known
  std::string place;     ///< "kernels.py:125"
  std::string code;      ///< that line, where the file is here
};

TritonOpModel describe_triton_op(const TritonText& source, const std::string& op);

}  // namespace heddle::app
