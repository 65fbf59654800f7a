// The start of a session: Hello, Start, Started over a control socket that is already connected.
#pragma once

#include <jni.h>

#include <memory>
#include <string_view>

#include "agent/agent_session.h"
#include "trace/record/frames.h"

namespace jtrace::agent {

// Why a session did not begin: one line with the path concerned (PATH_MAX) and what would help.
struct Reason {
  char text[4096 + 1024] = "";
  record::StartStatus status = record::StartStatus::kFailed;

  void set(std::string_view why);
};

// The session that jtrace asked for, started but not live; nullptr if jtrace refused or something failed, with the
// reason in `error`. `options`: those of -agentpath, or empty.
std::unique_ptr<AgentSession> begin_session(JavaVM* vm, UniqueFd control, bool live, std::string_view options,
                                            Reason& error);

// Sends Started: `events` are on, except what `left_out` names.
void send_started(int socket, std::uint64_t events, std::string_view left_out);
// Sends Started: nothing is on, with the reason; `status` is not kTraces.
void send_failure(int socket, record::StartStatus status, std::string_view failure);

// Takes the session live and starts its control thread, which owns it from then on. Otherwise abandons it and returns
// the reason (static text).
const char* bring_live(std::unique_ptr<AgentSession> session, JNIEnv* jni);
// Reports to jtrace that the session cannot go live and removes it from the JVM.
void abandon_session(std::unique_ptr<AgentSession> session, const char* failure);

// Writes jtrace's only line on the JVM's stderr, and only in a JVM that was started with the agent.
void complain(const char* why);

}  // namespace jtrace::agent
