// The window's state as a command line: what `heddle` would have to be given to do the same without a window.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/jobs/ask_options.h"
#include "app/session/commands.h"
#include "app/session/session.h"

namespace heddle::app {

struct CheckRequest;  // app/jobs/kernel_job.h
struct SweepHead;     // app/batch/sweep_line.h

/// "heddle SUBCOMMAND KERNEL MACHINE --param KEY=VALUE --set NUMBER=VALUE --demand SENTENCE ... EXTRA... SCHEDULE", quoted for a
/// shell. Of the state it says what the subcommand takes: parameters, changed numbers and constraints that are switched on,
/// and the schedule that is shown, where the subcommand wants one: by its file, by the project's, or not at all where solving
/// again finds one just as good. Empty where none of that will do (see why_no_line), and without kernel and machine.
/// `free` are parameters that the line chooses itself, whatever they are set to.
std::string command_line(const Session& session, std::string_view subcommand, const std::vector<std::string>& extra = {},
                         const std::vector<std::string>& free = {});
/// Why a line of this session is empty.
std::string why_no_line(const Session& session);

/// What the chart shows, as text in a terminal.
std::string shown_as_command(const Session& session);
/// Asks the same question.
std::string ask_command(const Session& session, Topic topic, const AskOptions& options);
/// Interprets the kernel's program in so many orders of events.
std::string check_kernel_command(const Session& session, const CheckRequest& request);
/// Writes the same package: with the sizes that are shown, where the line would choose others for lack of any.
std::string package_command(const Session& session, bool torch, const std::string& folder);
/// Runs the kernel of the shown schedule on a GPU, or profiles it.
std::string run_kernel_command(const Session& session, bool profile);
/// Runs programs of the kernel against each other there.
std::string race_command(const Session& session);
/// The words of such a line between its subcommand and the schedule's file: kernel, machine, parameters, changed
/// numbers and how the kernel is written.
std::vector<std::string> kernel_words(const Content& content, std::string_view command = "run");
/// "tune KERNEL MACHINE --param ... --budget N --method M --seed N --history FILE"
/// With `earlier`, the head of that history: of its parameters and seed, whatever point of it is open.
std::vector<std::string> tune_words(const Content& content, TuneOptions options, const std::string& history,
                                    const SweepHead* earlier = nullptr);
/// The same as a line; of a history that is open and can be continued, of that one.
std::string tune_command(const Session& session, const TuneOptions& options);
/// Validates what the window does.
std::string validate_command(const Session& session);
/// Judges the open dump; empty where none is open.
std::string audit_command(const Session& session);
/// Compares the three schedules of the open Triton kernel; empty where none is open.
std::string triton_command(const Session& session);
/// Compares A with B, aligned as they are.
std::string compare_command(const Session& session);
/// Writes the same file.
std::string export_command(const Session& session, const Export& request);

/// The line that does what this command has just done to the session: nothing for commands that no line does (a selection, a
/// zoom), empty where there is none as things stand (see why_no_line).
std::optional<std::string> cli_equivalent(const Session& session, const Command& command);

}  // namespace heddle::app
