// The questions of the window: one is worked on at a time, the others wait their turn, and answers come back with what they are about.
#pragma once

#include <chrono>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "app/jobs/question.h"
#include "app/session/open_document.h"
#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"

namespace heddle::app {

struct Environment;

class Questions : SessionPart {
 public:
  Questions(OpenDocument& document, const Environment& environment) : SessionPart(document), environment_(environment) {}

  void on(const Ask& c);
  void on(const CancelAsk& c);
  /// Takes in what the thread has done; true when anything changed.
  bool pump();
  /// What runs is told to stop; nothing begins any more.
  void cancel() {
    if (question_job_) question_job_->cancel();
    waiting_.clear();
  }
  bool close(std::chrono::steady_clock::time_point until) { return !question_job_ || question_job_->wait_until(until); }

  /// The latest question of this topic and its answer.
  const QuestionState& question(Topic topic) const { return questions_[static_cast<std::size_t>(topic)]; }
  /// Its answer, partial or whole, is one to the question as it stands now.
  bool answered(Topic topic) const;
  /// The whole answer to just this question, asked as things stand now, is still there: asking brings it back at once.
  bool remembers(Topic topic, const AskOptions& options) const;
  /// Empty when it can be asked, else why not, as a sentence.
  std::string why_no_question(Topic topic) const;
  /// A question is being worked on.
  bool asking() const { return question_job_ != nullptr; }

  /// After the question became another one: answers to what it is now come back.
  void recall_answers();
  /// Answers about another document make room; they come back with it.
  void leave_answers();
  /// The problem as it was held when something was asked about it, if this is the same one.
  std::shared_ptr<const Problem> same_as_asked(std::shared_ptr<const Problem> problem) const;

 private:
  struct Earlier {
    Topic topic;
    QuestionState asked;
  };

  QuestionState& question_of(Topic topic) { return questions_[static_cast<std::size_t>(topic)]; }
  void start_next_question();
  /// An answer makes room for the next one, but is not forgotten.
  void put_aside(Topic topic);
  const QuestionState* earlier_answer(Topic topic, const AskOptions& options) const;
  /// Steps of a front against the same resources that an earlier sweep has settled.
  std::vector<ParetoStep> known_steps(const AskOptions& options) const;

  const Environment& environment_;
  QuestionState questions_[std::size(kTopics)];
  Question to_ask_[std::size(kTopics)];  ///< of those that wait
  std::vector<Topic> waiting_;
  std::vector<Earlier> earlier_;      ///< newest last
  Topic answering_ = Topic::Explain;  ///< what `question_job_` works on
  std::unique_ptr<QuestionJob> question_job_;
};

}  // namespace heddle::app
