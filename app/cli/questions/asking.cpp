#include "app/cli/questions/asking.h"

#include "app/command/called.h"

namespace heddle::app {

void show(ProgressLine& line, const News& news) {
  if (!news.facts.empty()) line.show(news.facts);
  if (news.line.empty()) return;
  news.early ? line.announce(news.line) : line.say(news.line);
}

Telling telling(const Terminal& terminal, bool json, bool all) {
  using Form = Telling::Form;
  return {json ? Form::Json : terminal.quiet ? Form::Headline : Form::Text, terminal.style, all};
}

int tell(const Terminal& terminal, bool json, const std::string& text, const Ended& end) {
  terminal.out << (json ? text : as_called(text));
  for (const std::string& complaint : end.complaints) terminal.complain(complaint);
  return exit_code(end);
}

}  // namespace heddle::app
