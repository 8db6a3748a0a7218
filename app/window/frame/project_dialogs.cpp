#include "app/window/frame/project_dialogs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include "app/session/autosave.h"
#include "app/session/command_line.h"
#include "app/session/commands.h"
#include "app/session/files.h"
#include "app/session/project.h"
#include "app/session/way_back.h"
#include "app/session/window_link.h"
#include "app/window/frame/folder_list.h"
#include "app/window/frame/panels.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/header_model.h"
#include "app/window/parts/question_bar.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

namespace fs = std::filesystem;

struct Kind {
  ExportKind kind;
  const char *name, *label, *ending, *about;
};
constexpr std::array<Kind, 11> kKinds{
    {{ExportKind::Svg, "export/svg", "SVG", ".svg", "The chart as a drawing, for papers and web pages: text stays text."},
     {ExportKind::Png, "export/png", "PNG", ".png", "The pixels of the chart, or of the whole window."},
     {ExportKind::Html, "export/html", "HTML", ".html",
      "The chart as one page to zoom and hover, with its tables, for a pull request: it loads nothing from anywhere."},
     {ExportKind::Trace, "export/trace", "Trace", ".trace.json",
      "A run of the schedule for Perfetto and chrome://tracing; 1 cycle is 1 ns."},
     {ExportKind::Text, "export/text", "Text", ".txt", "Title, timeline and table of ops, for a terminal or a report."},
     {ExportKind::Csv, "export/csv", "CSV", ".csv", "The table of ops, for a spreadsheet."},
     {ExportKind::DumpGraph, "export/schedule_graph", "schedule_graph", ".schedule_graph.json",
      "The compiler's dump with this schedule in it: cycles, stages, groups, buffers and barriers of this loop; everything else byte for "
      "byte."},
     {ExportKind::DumpVariants, "export/variants", "variants", ".schedule_graphs.json",
      "The same with every legal schedule of the list, the best first, as the compiler's own top-N file."},
     {ExportKind::JointSolution, "export/joint", "joint-solver", ".solution.json", "The answer to the joint-solver problem that is open."},
     {ExportKind::Ttgir, "export/ttgir", "TTGIR", ".best.ttgir",
      "Triton's text with this schedule in it: stages, clusters and partitions of its ops; everything else byte for byte. "
      "heddle_triton.py finish compiles it."},
     {ExportKind::Python, "export/python", "Python", ".rotated.py",
      "The loop with its mmas rotated, to put in place of the one in the program: overlap that Triton's passes do not make."}}};

bool for_triton(ExportKind kind) { return kind == ExportKind::Ttgir || kind == ExportKind::Python; }
bool for_compiler(ExportKind kind) { return goes_back(kind) && !for_triton(kind); }

/// Why what is open cannot be written so; empty: it can.
std::string why_not(const Session& session, ExportKind kind) {
  return goes_back(kind) ? why_not_back(session.content(), kind) : std::string();
}

const Kind& kind_of(ExportKind kind) {
  return *std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& k) { return k.kind == kind; });
}

/// The path with another kind's ending; a path that somebody typed an ending of his own into is left alone.
void set_ending(ExportDialogState& dialog, ExportKind kind) {
  std::string path = dialog.path;
  for (const Kind& k : kKinds)
    if (path.ends_with(k.ending)) {
      path.resize(path.size() - std::string(k.ending).size());
      path += kind_of(kind).ending;
      break;
    }
  std::snprintf(dialog.path, sizeof dialog.path, "%s", path.c_str());
}

/// Greyed, with the reason, where `why_not` says so.
void check_box(const char* name, const std::string& label, bool& on, const std::string& why_not = {}) {
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(3), px(2)));
  ImGui::BeginDisabled(!why_not.empty());
  bool shown = on && why_not.empty();
  if (ImGui::Checkbox((label + "##" + name).c_str(), &shown)) on = shown;
  ImGui::EndDisabled();
  ImGui::PopStyleVar();
  if (probe::on()) probe::last_item(name);
  if (!why_not.empty() && ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) tooltip(why_not);
  if (why_not.empty()) return;
  ImGui::SameLine(0, px(10));
  const float room = ImGui::GetContentRegionAvail().x;
  const FontScope scope(fonts().small);
  colored_text(theme().faint, fitted(fonts().small, why_not, room));
}

/// Always the same three lines, so that nothing jumps; what a kind of file does not know is grey and says why.
void draw_options(const Session& session, Export& request) {
  const bool svg = request.kind == ExportKind::Svg, png = request.kind == ExportKind::Png;
  const auto& visible = session.view().chart.visible;
  check_box("export/visible",
            visible ? fmt::format("only the visible cycles, {} to {}", grouped(visible->first), grouped(visible->second))
                    : "only the visible cycles",
            request.visible_only,
            svg                                 ? ""
            : png                               ? "a PNG shows what the chart shows: zoom first"
            : request.kind == ExportKind::Html  ? "the page shows all cycles, and zooms"
            : request.kind == ExportKind::Trace ? "a trace runs from cold start to drain"
                                                : "it has all cycles");
  check_box("export/light", "on white", request.light,
            request.kind == ExportKind::Html                      ? "the page is as its reader's system is"
            : !svg && !png                                        ? "it has no colours"
            : png && session.settings().theme == ThemeName::Light ? "the theme is light already"
                                                                  : "");
  check_box("export/window", "the whole window, not only the chart", request.whole_window,
            png ? "" : "only pictures of pixels show the window");
}

/// Room for the last few, whether they are there or not: the dialog keeps its height, and its buttons their place.
void draw_exported(const Session& session, std::size_t earlier) {
  const std::vector<Exported>& all = session.view().exported;
  constexpr std::size_t kMost = 4;
  const float line = text_size(fonts().small, "X").y + ImGui::GetStyle().ItemSpacing.y, end = ImGui::GetCursorPosY() + line * kMost;
  for (std::size_t i = std::max(earlier, all.size() - std::min(all.size(), kMost)); i < all.size(); ++i) {
    const Exported& done = all[i];
    const float width = ImGui::GetContentRegionAvail().x;
    const std::string text = (done.good ? "\xe2\x9c\x93 " : "! ") + done.sentence + ": " + done.path;
    const FontScope scope(fonts().small);
    colored_text(done.good ? theme().good : theme().bad, fitted_middle(fonts().small, text, width));
  }
  ImGui::Dummy(ImVec2(0, std::max(0.0f, end - ImGui::GetCursorPosY() - ImGui::GetStyle().ItemSpacing.y)));
}

}  // namespace

std::string file_stem(const Session& session) {
  const Content& content = session.content();
  if (const std::string& file = session.projects().project_file(); !file.empty()) {
    const fs::path path(file);
    fs::path stem = path.stem();
    if (stem.extension() == ".heddle") stem = stem.stem();
    return (path.parent_path() / stem).string();
  }
  if (content.dump()) return content.kernel->name;
  return content.kernel && content.machine ? content.kernel->name + "." + content.machine->name : "heddle";
}

std::string window_title(const Session& session) {
  const Content& content = session.content();
  std::string title =
      (content.kernel ? content.kernel->name : content.source->subject()) + (content.machine ? " on " + machine_text(content) : "");
  if (session.projects().unsaved()) title += " *";
  if (!session.projects().project_file().empty()) title += " - " + base_name(session.projects().project_file());
  if (const int number = session.windows().window_number()) title = fmt::format("{} · {}", number, title);
  return title + " - Heddle";
}

void share_as(UiState& ui, const std::string& project) {
  std::string stem = project;
  for (const std::string ending : {".heddle.json", ".json"})
    if (stem.ends_with(ending)) {
      stem.resize(stem.size() - ending.size());
      break;
    }
  ui.commands.push(SaveProject{project});
  Export picture{ExportKind::Png, stem + ".png"};
  picture.whole_window = true;
  ui.commands.push(picture);
  ui.commands.push(Export{ExportKind::Trace, stem + ".trace.json"});
  ui.commands.push(CopyLine{});  // of the trace, which opens the project
}

void draw_export_dialog(const Session& session, UiState& ui) {
  ExportDialogState& dialog = ui.of<ExportDialogState>();
  if (dialog.wanted) {
    dialog.wanted = false;
    dialog.just_opened = true;
    dialog.request.light = session.settings().theme == ThemeName::Light;
    if (!why_not(session, dialog.request.kind).empty()) dialog.request.kind = ExportKind::Svg;
    std::snprintf(dialog.path, sizeof dialog.path, "%s", (file_stem(session) + kind_of(dialog.request.kind).ending).c_str());
    dialog.earlier = session.view().exported.size();
    ImGui::OpenPopup("export");
  } else if (dialog.again && session.view().pictures.empty()) {
    dialog.again = false;
    ImGui::OpenPopup("export");
  }
  if (!begin_modal("export", ImVec2(px(640), 0))) return;
  dialog_title("Export what is on screen");
  ImGui::Dummy(ImVec2(0, px(2)));
  const auto choose = [&](const Kind& kind, const std::string& why_not) {
    const bool current = kind.kind == dialog.request.kind;
    if (choice(kind.name, kind.label, current, why_not)) {
      dialog.request.kind = kind.kind;
      set_ending(dialog, kind.kind);
    }
    ImGui::SameLine(0, px(6));
  };
  for (const Kind& kind : kKinds)
    if (!goes_back(kind.kind)) choose(kind, {});
  ImGui::NewLine();
  const auto more = [&](const char* whom, bool (*is_for)(ExportKind)) {
    const float top = ImGui::GetCursorPosY();
    ImGui::SetCursorPosY(top + px(6));
    colored_text(theme().dim, whom);
    ImGui::SameLine(0, px(10));
    ImGui::SetCursorPosY(top);
    for (const Kind& kind : kKinds)
      if (is_for(kind.kind)) choose(kind, why_not(session, kind.kind));
    ImGui::NewLine();
  };
  if (session.content().dump()) more("for the compiler", for_compiler);
  if (session.content().triton()) more("for Triton", for_triton);
  std::string about = kind_of(dialog.request.kind).about;
  if (session.content().baseline_entry() &&
      (session.view().chart_view == ChartView::Split || session.view().chart_view == ChartView::Ghost))
    about += dialog.request.kind == ExportKind::Svg   ? " A over B, on one axis."
             : dialog.request.kind == ExportKind::Png ? ""
                                                      : " Of A alone.";
  wrapped_text(fonts().small, theme().dim, about);
  draw_options(session, dialog.request);
  ImGui::Dummy(ImVec2(0, px(2)));
  if (dialog.just_opened) ImGui::SetKeyboardFocusHere();
  dialog.just_opened = false;
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x);
  const bool entered = path_field("export/path", "", dialog.path, sizeof dialog.path);
  draw_place_list("export/place", dialog.path, sizeof dialog.path, px(150));
  std::error_code ignored;
  const std::string folder = fs::current_path(ignored).string();
  const bool replaces = fs::is_regular_file(dialog.path, ignored);
  wrapped_text(fonts().small, replaces ? theme().warning : theme().faint,
               replaces ? "This file exists and will be replaced." : "Relative to " + folder);
  ImGui::Dummy(ImVec2(0, px(4)));
  dialog.request.path = dialog.path;
  const std::string no_path = dialog.path[0] ? "" : "type a path first";
  const bool go = button("export/go", "Export", ButtonKind::Primary, no_path, {px(100), px(32)});
  if ((go || entered) && dialog.path[0]) {
    ui.commands.push(dialog.request);
    dialog.again = dialog.request.kind == ExportKind::Png;
    if (dialog.again) ImGui::CloseCurrentPopup();
  }
  ImGui::SameLine();
  copy_command_button("export/command", session, ui, export_command(session, dialog.request), {px(150), px(32)});
  ImGui::SameLine();
  if (button("export/share", "Share", ButtonKind::Plain, session.projects().why_no_save(), {px(90), px(32)})) {
    ImGui::CloseCurrentPopup();
    dialog.again = !session.projects().project_file().empty();
    perform(*find_action("share"), session, ui);
  }
  if (ImGui::IsItemHovered()) tooltip("project, picture and trace into the project's folder, and the command line to the clipboard");
  ImGui::SameLine();
  if (button("export/close", "Close", ButtonKind::Plain, {}, {px(90), px(32)}) || key_pressed(Key::Escape)) ImGui::CloseCurrentPopup();
  draw_exported(session, dialog.earlier);
  ImGui::EndPopup();
}

void draw_leave_dialog(Session& session, UiState& ui) {
  if (session.view().ask_leave && !ui.leave_opened) {
    ImGui::OpenPopup("leave");
    ui.leave_opened = true;
  }
  if (!begin_modal("leave", ImVec2(px(520), 0))) {
    ui.leave_opened = false;
    session.requests().ask_leave = false;
    return;
  }
  const auto leave = [&] {
    session.requests().ask_leave = false;
    ImGui::CloseCurrentPopup();
  };
  if (!session.projects().worth_asking()) {  // the work has gone, or been saved, while this stood here
    leave();
    return ImGui::EndPopup();
  }
  dialog_title("Save before leaving?");
  const std::string& file = session.projects().project_file();
  const std::string search = session.projects().unfinished_search();
  if (!search.empty()) wrapped_text(fonts().body, theme().text, search);
  if (session.projects().unsaved())
    wrapped_text(fonts().body, theme().text,
                 file.empty() ? fmt::format("The work on {} is in no project file yet.", session.content().kernel->name)
                              : fmt::format("{} does not have the latest changes.", base_name(file)));
  if (!search.empty())
    wrapped_text(fonts().small, theme().dim, "Solved again here, it goes on from what was found, if the store of answers is on.");
  ImGui::Dummy(ImVec2(0, px(6)));
  if (button("leave/save", file.empty() ? "Save as ..." : "Save and leave", ButtonKind::Primary, session.projects().why_no_save(),
             {px(140), px(32)})) {
    leave();
    if (file.empty()) {
      perform(*find_action("save_as"), session, ui);
    } else {
      ui.commands.push(SaveProject{});
      ui.commands.push(Quit{});
    }
  }
  ImGui::SameLine();
  if (button("leave/discard", "Leave without saving", ButtonKind::Plain, {}, {px(180), px(32)})) {
    leave();
    ui.commands.push(Quit{true});
  }
  ImGui::SameLine();
  if (button("leave/stay", "Stay", ButtonKind::Plain, {}, {px(90), px(32)}) || key_pressed(Key::Escape)) leave();
  ImGui::EndPopup();
}

// --- what should not be missed

namespace {

constexpr std::size_t kMostRecoveries = 4;  // lines at once; more scroll

struct DiscardState {
  std::string path;
  bool wanted = false;
};

float notice_line() { return std::floor(px(38)); }

/// A sentence, with `button_count` buttons of that width at its right end: the cursor is at the first of them.
void notice_sentence(const std::string& text, ImVec2 at, float width, float button_width, int button_count) {
  const float gap = px(8), line = notice_line(), buttons = static_cast<float>(button_count) * (button_width + gap);
  const float room = width - buttons - px(40);
  const std::string shown = fitted(fonts().body, text, room);
  paint_text(fonts().body, ImVec2(at.x + px(16), at.y + (line - text_size(fonts().body, "X").y) / 2), theme().text, shown);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(ImVec2(std::max(room, 1.0f), line));
  if (shown != text && ImGui::IsItemHovered()) tooltip(text);
  ImGui::SetCursorScreenPos(ImVec2(at.x + width - px(12) - buttons + gap, at.y + (line - px(26)) / 2));
}

/// A line for each piece of work that a window which is gone has left.
void draw_recoveries(const Session& session, UiState& ui) {
  ImGui::BeginChild("recoveries", ImVec2(0, 0));
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, one = px(84), height = px(26);
  const auto& all = session.projects().recoveries();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ImVec2 at(begin.x, begin.y + static_cast<float>(i) * notice_line());
    notice_sentence(fmt::format("Recovered work from {}: {}", time_of(all[i], std::time(nullptr)), describe(all[i])), at, width, one, 2);
    // Where other lines have Dismiss stands what takes nothing away.
    if (button(fmt::format("recovery/discard/{}", i).c_str(), "Discard ...", ButtonKind::Flat, {}, {one, height}))
      ui.of<DiscardState>() = {all[i].path, true};
    ImGui::SameLine(0, px(8));
    if (button(fmt::format("recovery/restore/{}", i).c_str(), "Restore", i == 0 ? ButtonKind::Primary : ButtonKind::Plain, {},
               {one, height}))
      ui.commands.push(RestoreWork{all[i].path});
  }
  ImGui::EndChild();
}

}  // namespace

void draw_discard_dialog(const Session& session, UiState& ui) {
  DiscardState& state = ui.of<DiscardState>();
  if (std::exchange(state.wanted, false)) ImGui::OpenPopup("discard");
  if (!begin_modal("discard", ImVec2(px(520), 0))) return;
  const auto& all = session.projects().recoveries();
  const auto work = std::find_if(all.begin(), all.end(), [&](const Recovery& r) { return r.path == state.path; });
  if (work == all.end()) {
    ImGui::CloseCurrentPopup();
    return ImGui::EndPopup();
  }
  dialog_title("Throw this work away?");
  wrapped_text(fonts().body, theme().text, fmt::format("{}, left at {}.", describe(*work), time_of(*work, std::time(nullptr))));
  wrapped_text(fonts().body, theme().text, "It is in no other file, and cannot be brought back.");
  ImGui::Dummy(ImVec2(0, px(6)));
  if (button("discard/keep", "Keep it", ButtonKind::Primary, {}, {px(120), px(32)}) || key_pressed(Key::Escape)) ImGui::CloseCurrentPopup();
  ImGui::SameLine();
  if (button("discard/go", "Throw away", ButtonKind::Plain, {}, {px(120), px(32)})) {
    ui.commands.push(DiscardWork{state.path});
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
}

float notice_height(const Session& session) {
  const std::size_t lines = session.projects().recoveries().empty() ? !session.view().notice.empty()
                                                                    : std::min(session.projects().recoveries().size(), kMostRecoveries);
  return static_cast<float>(lines) * notice_line();
}

void draw_notices(const Session& session, UiState& ui) {
  const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  ImGui::GetWindowDrawList()->AddRectFilled(at, ImVec2(at.x + px(4), at.y + size.y), theme().warning);
  if (!session.projects().recoveries().empty()) return draw_recoveries(session, ui);
  notice_sentence(session.view().notice, at, size.x, px(80), 1);
  if (button("notice/dismiss", "Dismiss", ButtonKind::Plain, {}, {px(80), px(26)})) ui.commands.push(dismiss_notice());
}

}  // namespace heddle::app
