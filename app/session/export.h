// A file that is to be written of what is on screen.
#pragma once

#include <string>

namespace heddle::app {

enum class ExportKind { Svg, Png, Html, Trace, Text, Csv, DumpGraph, DumpVariants, JointSolution, Ttgir, Python };
struct Export {
  ExportKind kind = ExportKind::Svg;
  std::string path;
  bool visible_only = false;  ///< SVG: the cycles that the chart shows; all others ignore it
  bool light = false;         ///< SVG: on white
  bool whole_window = false;  ///< PNG: not only the chart
};

}  // namespace heddle::app
