// The start of a session: Hello, Start, Started over a control socket that is connected already.
#pragma once

#include <jni.h>

#include <string_view>

#include "agent/agent_session.h"

namespace jtrace::agent {

// The session that jtrace asked for, started but not live; nullptr where jtrace refused or something failed, with the
// reason in `error` (room for 256 bytes). `options`: what the JVM was given with -agentpath, or empty.
AgentSession* begin_session(JavaVM* vm, UniqueFd control, bool live, std::string_view options, char* error);

// Sends Started: `events` are on, or `failure` says why not.
void send_started(int socket, std::uint64_t events, std::string_view failure);

// Says that go_live() failed and takes the session out of the JVM again.
void abandon_session(AgentSession& session, const char* failure);

}  // namespace jtrace::agent
