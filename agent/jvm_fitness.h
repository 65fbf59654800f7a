// The kind of this JVM and what it cannot do, with reasons for the user. In any phase in which JVM TI answers.
#pragma once

#include <jvmti.h>

#include <string_view>

namespace jtrace::agent {

// Why it cannot be traced at all: it is not HotSpot, or older than JDK 8. nullptr if it can. Static text.
const char* unfit_jvm(jvmtiEnv* jvmti);

// The JDK's number: 8, 11, 17... (from JVM TI's version; JDK 8 has 1.)
int major_version(jvmtiEnv* jvmti);

// Why a capability (a bit of jvmtiCapabilities) is not a potential one. `live`: the JVM has started already.
std::string_view why_not_offered(unsigned capability, jvmtiEnv* jvmti, bool live);

}  // namespace jtrace::agent
