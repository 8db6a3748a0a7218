#include "app/command/completion.h"

#include <string>
#include <vector>

#include "app/command/command_table.h"
#include "app/command/ptx_form.h"

namespace heddle::app {
namespace {

std::string joined(const std::vector<std::string>& words, const char* between = " ") {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const CommandSpec& command : command_table()) names.push_back(command.name);
  return names;
}

std::vector<std::string> flags_of(const CommandSpec& command) {
  std::vector<std::string> flags;
  for (const OptionSpec& option : offered_options(command)) {
    if (!option.short_flag.empty()) flags.push_back(option.short_flag);
    flags.push_back(option.flag);
  }
  return flags;
}

/// `list` argument that names the candidates; empty when there is none.
std::string list_argument(PositionalType type) {
  switch (type) {
    case PositionalType::Kernel: return "kernels";
    case PositionalType::Machine: return "machines";
    case PositionalType::Schedule: return "schedules";
    case PositionalType::Name:
    case PositionalType::Choice:
    case PositionalType::Command:
    case PositionalType::Files:
    case PositionalType::Settings: return {};
  }
  return {};
}

std::vector<std::string> fixed_words(const PositionalSpec& positional) {
  if (positional.type == PositionalType::Command) return command_names();
  return positional.choices;
}

/// Single quotes for all three shells: a quote inside ends the string, adds an escaped quote, and begins again.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string bash_script() {
  std::string text =
      "# bash completion for heddle; load with: source <(heddle completion bash)\n"
      "_heddle() {\n"
      "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\" command=\"\" position=0 "
      "skip=\"\" word i\n"
      "  COMPREPLY=()\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    word=\"${COMP_WORDS[i]}\"\n"
      "    if [[ -n $skip ]]; then skip=\"\"; continue; fi\n"
      "    case \"$word\" in\n"
      "      @VALUES@) skip=1 ;;\n"
      "      -*) ;;\n"
      "      *) if [[ -z $command ]]; then command=\"$word\"; else ((position++)); fi ;;\n"
      "    esac\n"
      "  done\n"
      "  case \"$command:$prev\" in\n"
      "@OPTION_VALUES@"
      "  esac\n"
      "  if [[ -z $command ]]; then COMPREPLY=($(compgen -W \"@COMMANDS@\" -- \"$cur\")); return; fi\n"
      "  if [[ $cur == -* ]]; then\n"
      "    case \"$command\" in\n"
      "@FLAGS@"
      "    esac\n"
      "    return\n"
      "  fi\n"
      "  case \"$command:$position\" in\n"
      "@POSITIONALS@"
      "  esac\n"
      "}\n"
      "complete -o filenames -o bashdefault -F _heddle heddle\n";
  std::vector<std::string> with_values;
  std::string option_values, flags, positionals;
  for (const CommandSpec& command : command_table()) {
    flags += "      " + command.name + ") COMPREPLY=($(compgen -W \"" + joined(flags_of(command)) + "\" -- \"$cur\")) ;;\n";
    for (const OptionSpec& option : offered_options(command)) {
      if (option.type == ValueType::Switch) continue;
      std::string pattern = command.name + ":" + option.flag;
      if (!option.short_flag.empty()) pattern += "|" + command.name + ":" + option.short_flag;
      for (const std::string& flag : {option.flag, option.short_flag}) {
        bool known = flag.empty();
        for (const std::string& other : with_values) known = known || other == flag;
        if (!known) with_values.push_back(flag);
      }
      const std::string words = option.type == ValueType::File     ? "-f"
                                : option.type == ValueType::Choice ? "-W \"" + joined(option.choices) + "\""
                                                                   : "-W \"\"";
      option_values += "    " + pattern + ") COMPREPLY=($(compgen " + words + " -- \"$cur\")); return ;;\n";
    }
    for (std::size_t i = 0; i < command.positionals.size(); ++i) {
      const PositionalSpec& positional = command.positionals[i];
      const std::string list = list_argument(positional.type);
      std::string words = "-W \"" + joined(fixed_words(positional)) + "\"";
      if (!list.empty()) words = "-f -W \"$(heddle list " + list + " --quiet 2>/dev/null)\"";
      if (positional.type == PositionalType::Files) words = "-f";
      const std::string where = takes_rest(positional.type) ? "*" : std::to_string(i);
      positionals += "    " + command.name + ":" + where + ") COMPREPLY=($(compgen " + words + " -- \"$cur\")) ;;\n";
    }
  }
  const std::vector<std::pair<std::string, std::string>> slots{{"@VALUES@", joined(with_values, "|")},
                                                               {"@OPTION_VALUES@", option_values},
                                                               {"@COMMANDS@", joined(command_names())},
                                                               {"@FLAGS@", flags},
                                                               {"@POSITIONALS@", positionals}};
  for (const auto& [slot, content] : slots) text.replace(text.find(slot), slot.size(), content);
  return text;
}

/// In _arguments specs ':' and brackets are syntax.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == ':' || c == '[' || c == ']') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_action(const PositionalSpec& positional) {
  const std::string list = list_argument(positional.type);
  if (!list.empty()) return "_heddle_names " + list;
  if (positional.type == PositionalType::Files) return "_files";
  return "(" + joined(fixed_words(positional)) + ")";
}

std::string zsh_script() {
  std::string text =
      "#compdef heddle\n"
      "# zsh completion for heddle; put it into a folder of $fpath as _heddle\n"
      "_heddle_names() {\n"
      "  local -a names\n"
      "  names=(${(f)\"$(heddle list $1 --quiet 2>/dev/null)\"})\n"
      "  compadd -a names\n"
      "  _files\n"
      "}\n"
      "_heddle() {\n"
      "  local -a commands\n"
      "  commands=(\n";
  for (const CommandSpec& command : command_table()) text += "    " + quoted(command.name + ":" + zsh_text(command.about)) + "\n";
  text +=
      "  )\n"
      "  if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
      "  local command=$words[2]\n"
      "  shift words; (( CURRENT-- ))\n"
      "  case $command in\n";
  for (const CommandSpec& command : command_table()) {
    text += "    " + command.name + ")\n      _arguments";
    for (const OptionSpec& option : offered_options(command)) {
      std::string tail = "[" + zsh_text(option.about) + "]";
      if (option.type != ValueType::Switch) {
        const std::string action = option.type == ValueType::File     ? "_files"
                                   : option.type == ValueType::Choice ? "(" + joined(option.choices) + ")"
                                                                      : "";
        tail += ":" + option.value + ":" + action;
      }
      const std::string star = option.repeats ? "*" : "";
      text += " \\\n        " + quoted(star + option.flag + tail);
      if (!option.short_flag.empty()) text += " \\\n        " + quoted(star + option.short_flag + tail);
    }
    for (std::size_t i = 0; i < command.positionals.size(); ++i) {
      const PositionalSpec& positional = command.positionals[i];
      const std::string where = takes_rest(positional.type) ? "*" : std::to_string(i + 1);
      text += " \\\n        " + quoted(where + (positional.required ? ":" : "::") + positional.name + ":" + zsh_action(positional));
    }
    text += "\n      ;;\n";
  }
  return text +
         "  esac\n}\nif [[ $zsh_eval_context[-1] == loadautofunc ]]; then _heddle \"$@\"; else compdef _heddle heddle; "
         "fi\n";
}

std::string fish_script() {
  std::string text = "# fish completion for heddle\ncomplete -c heddle -n __fish_use_subcommand -f\n";
  for (const CommandSpec& command : command_table())
    text += "complete -c heddle -n __fish_use_subcommand -a " + command.name + " -d " + quoted(command.about) + "\n";
  for (const CommandSpec& command : command_table()) {
    const std::string when = "complete -c heddle -n '__fish_seen_subcommand_from " + command.name + "'";
    for (const OptionSpec& option : offered_options(command)) {
      text += when + " -l " + option.flag.substr(2);
      if (!option.short_flag.empty()) text += " -s " + option.short_flag.substr(1);
      if (option.type == ValueType::File)
        text += " -r -F";
      else if (option.type == ValueType::Choice)
        text += " -x -a " + quoted(joined(option.choices));
      else if (option.type != ValueType::Switch)
        text += " -x";
      text += " -d " + quoted(option.about) + "\n";
    }
    for (const PositionalSpec& positional : command.positionals) {
      const std::string list = list_argument(positional.type);
      if (!list.empty())
        text += when + " -a '(heddle list " + list + " --quiet 2>/dev/null)'\n";
      else if (positional.type != PositionalType::Files)
        text += when + " -f -a " + quoted(joined(fixed_words(positional))) + "\n";
    }
  }
  return text;
}

}  // namespace

std::string completion_script(std::string_view shell) {
  if (shell == "bash") return bash_script();
  return shell == "zsh" ? zsh_script() : fish_script();
}

}  // namespace heddle::app
