// How things are shown: what the window remembers between two frames and projects may keep, beside the document.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/session/source_text.h"
#include "core/analysis/alignment.h"
#include "core/base/id.h"

namespace heddle {
enum class GanttMode;  // core/chart/gantt_model.h
}

namespace heddle::app {

enum class BottomTab {
  Log,
  Explain,
  Slack,
  Alternatives,
  WhatIf,
  Pareto,
  Sensitivity,
  Compare,
  Triton,
  Audit,
  Graph,
  Pipeline,
  Ops,
  Units,
  Constraints,
  Cuda,
  Simulate,
  Runs,
  Sweep,
  Truth,
  Family,
  Machine,
  Layout
};

/// How A and B share the centre, where there is a B; Three: the three schedules of a Triton kernel, where they are known, else A.
enum class ChartView { A, Split, Ghost, Three };

/// What the chart, the lanes and the graph point at, and why: the members of a core, a relaxation, a divergence.
struct Highlight {
  std::string why;  ///< empty: nothing is pointed at
  std::vector<OpId> ops;
  std::vector<EdgeId> edges;
  std::vector<std::string> lanes;  ///< by label
  bool operator==(const Highlight&) const = default;
};

/// What of the chart's view projects keep; the window writes it after every frame.
struct ChartKept {
  std::optional<std::pair<Cycle, Cycle>> visible;  ///< cycles at its edges
  std::map<std::string, bool> switches;            ///< overlays
};

enum class ExportKind { Svg, Png, Html, Trace, Text, Csv, DumpGraph, DumpVariants, JointSolution, Ttgir, Python };
/// A file that is to be written of what is on screen.
struct Export {
  ExportKind kind = ExportKind::Svg;
  std::string path;
  bool visible_only = false;  ///< SVG: the cycles that the chart shows; all others ignore it
  bool light = false;         ///< SVG: on white
  bool whole_window = false;  ///< PNG: not only the chart
};

/// What the last exports came to, for the dialog.
struct Exported {
  std::string path, sentence;
  bool good = true;
};

/// What the window is asked for: it does it and clears it (Session::requests).
struct WindowRequests {
  bool zoom_to_selection = false, fit_all = false;
  bool reveal = false;  ///< bars that are pointed at come into view
  bool open_dialog = false;
  bool ask_leave = false;  ///< what becomes of unsaved work
  bool quit = false;
  std::optional<std::string> clipboard;
  std::vector<Export> pictures;             ///< PNGs that are to be written
  std::optional<ChartKept> restored_chart;  ///< of a project that was opened
};

/// How things are shown. Not part of the document, not undoable.
struct ViewState : WindowRequests {
  GanttMode mode{};
  std::optional<int> iterations;  ///< of the runs, where the user has chosen; see Showing::iterations
  BottomTab tab = BottomTab::Explain;
  Highlight highlight;
  ChartView chart_view = ChartView::A;
  Alignment alignment;                      ///< of B with A
  std::optional<SourceOf> editor;           ///< the text that stands beside the chart
  bool critical = false, whiskers = false;  ///< overlays of the chart
  bool barriers = false;                    ///< lanes of barriers and phases over those of resources
  bool tensor = false;                      ///< lanes of tensor memory, below those
  bool queues = false;                      ///< lanes of rings as queues, below those
  bool measured = false;                    ///< the same: bars of the chosen run
  bool keys_overlay = false;
  bool legend = false;                        ///< of the chart's marks, over it
  std::optional<std::pair<int, int>> window;  ///< its size, as the window last said
  ChartKept chart;                            ///< the same of its chart
  std::vector<Exported> exported;
  std::string notice;  ///< one sentence that stays in view until it is dismissed
};

}  // namespace heddle::app
