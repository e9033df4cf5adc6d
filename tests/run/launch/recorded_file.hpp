// SPDX-License-Identifier: MIT
// What the descriptors of a recorded system lead to.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "run/launch/recorded_system.hpp"

namespace hpcml::testing {

/// The bytes of a pipe, with its ends. Of unlimited size: no rank waits for its reader.
struct RecordedPipe {
  std::string bytes{};
  std::weak_ptr<OpenFile> reader{}, writer{};
};

/// A message on a socket, with the descriptors that it carries.
struct RecordedMessage {
  std::string text;
  std::vector<std::shared_ptr<OpenFile>> files;
};

struct OpenFile {
  enum class Kind { null, stream, pipe_reader, pipe_writer, epoll, signals, socket };
  /// A member of an epoll set.
  struct Member {
    std::weak_ptr<OpenFile> file;
    std::uint64_t key;
  };
  Kind kind = Kind::null;
  std::shared_ptr<RecordedPipe> pipe{};
  RecordedStream* stream = nullptr;
  std::vector<Member> members{};
  sigset_t signals{};
  std::shared_ptr<std::deque<RecordedMessage>> incoming{}, outgoing{};
};

} // namespace hpcml::testing
