import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.ArrayReference;
import com.sun.jdi.Bootstrap;
import com.sun.jdi.ClassObjectReference;
import com.sun.jdi.ClassType;
import com.sun.jdi.Field;
import com.sun.jdi.InterfaceType;
import com.sun.jdi.LocalVariable;
import com.sun.jdi.Location;
import com.sun.jdi.Method;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StackFrame;
import com.sun.jdi.StringReference;
import com.sun.jdi.ThreadGroupReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.AttachingConnector;
import com.sun.jdi.connect.Connector;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * All that a debugger sees of a program, as text, by the JDK's own client: one program for every server, so that what
 * two servers say can be compared line by line. No ids are in it.
 */
public class JdiDump {
    static final StringBuilder out = new StringBuilder();

    static void line(int depth, String text) {
        for (int i = 0; i < depth; i++) out.append("  ");
        out.append(text).append('\n');
    }

    static VirtualMachine attach(String host, String port) throws Exception {
        for (AttachingConnector connector : Bootstrap.virtualMachineManager().attachingConnectors()) {
            if (!connector.name().equals("com.sun.jdi.SocketAttach")) continue;
            Map<String, Connector.Argument> arguments = connector.defaultArguments();
            arguments.get("hostname").setValue(host);
            arguments.get("port").setValue(port);
            return connector.attach(arguments);
        }
        throw new IllegalStateException("no connector");
    }

    static String shown(Value value) {
        if (value instanceof StringReference) return "\"" + ((StringReference) value).value() + "\"";
        if (value instanceof ClassObjectReference) return "class " + ((ClassObjectReference) value).reflectedType().name();
        if (value instanceof ThreadReference) return "thread " + ((ThreadReference) value).name();
        if (value instanceof ArrayReference)
            return value.type().signature() + " " + ((ArrayReference) value).length();
        if (value instanceof ObjectReference) return "a " + value.type().signature();
        return value == null ? "null" : value.type().signature() + " " + value;
    }

    static void fields(int depth, ObjectReference object, int levels) {
        if (object instanceof ArrayReference) {
            List<Value> values = ((ArrayReference) object).length() == 0 ? new ArrayList<>() : ((ArrayReference) object).getValues();
            for (int i = 0; i < Math.min(values.size(), 20); i++) value(depth, "[" + i + "]", values.get(i), levels - 1);
            return;
        }
        for (Field field : object.referenceType().allFields())
            value(depth, field.declaringType().name() + "." + field.name() + " " + written(field) + " " + field.genericSignature(),
                    field.isStatic() ? object.referenceType().getValue(field) : object.getValue(field), levels - 1);
    }

    static void value(int depth, String name, Value value, int levels) {
        line(depth, name + " = " + shown(value));
        boolean plain = value instanceof StringReference || value instanceof ThreadReference || value instanceof ClassObjectReference
                // Its counters count the threads of the agent too.
                || value instanceof ThreadGroupReference;
        if (levels > 0 && value instanceof ObjectReference && !plain) fields(depth + 1, (ObjectReference) value, levels);
    }

    static void frame(StackFrame frame, boolean values) throws Exception {
        Location at = frame.location();
        String source;
        try {
            source = at.sourceName();
        } catch (AbsentInformationException e) {
            source = "?";
        }
        Method method = at.method();
        line(1, at.declaringType().signature().replaceAll("0x[0-9a-f]+", "0x") + " " + method.name() + method.signature() + " " + method.modifiers() + " " + source + ":" + at.lineNumber() + " " + at.codeIndex());
        if (!values || method.isNative()) return;
        value(2, "this", frame.thisObject(), 2);
        try {
            for (LocalVariable variable : frame.visibleVariables())
                value(2, variable.name() + " " + variable.signature() + " " + variable.genericSignature() + " " + variable.isArgument(), frame.getValue(variable), 3);
        } catch (AbsentInformationException e) {
            line(2, "no table of variables: " + frame.getArgumentValues().size() + " arguments");
        }
    }

    /** The JVM of 17 lets a bit of its own through, that of 25 one of the class file (ACC_SUPER, of classes). */
    static int written(Field field) {
        return field.modifiers() & ~0x800;
    }

    /** The JVM's own agent leaves out the threads it has made. */
    static boolean isAgents(ThreadReference thread) {
        return thread.name().startsWith("JDWP ");
    }

    static void monitors(ThreadReference thread) throws Exception {
        List<String> owned = new ArrayList<>();
        for (com.sun.jdi.MonitorInfo info : thread.ownedMonitorsAndFrames())
            owned.add(info.monitor().referenceType().name() + " at " + info.stackDepth());
        line(1, "owns " + new TreeSet<>(owned));
        ObjectReference wanted = thread.currentContendedMonitor();
        if (wanted == null) return;
        line(1, "waits for " + shown(wanted) + ", owned by " + (wanted.owningThread() == null ? "none" : wanted.owningThread().name()) + " x" + wanted.entryCount() + ", waited for by " + wanted.waitingThreads().size());
    }

    static void thread(ThreadReference thread) throws Exception {
        ThreadGroupReference group = thread.threadGroup();
        line(0, "thread " + thread.name() + " " + thread.referenceType().name() + " status " + thread.status() + " group " + (group == null ? "none" : group.name()) + " frames " + thread.frameCount());
        monitors(thread);
        for (StackFrame frame : thread.frames()) frame(frame, frame.location().declaringType().name().startsWith("Debuggee"));
    }

    static void group(int depth, ThreadGroupReference group) {
        line(depth, "group " + group.name() + " of " + (group.parent() == null ? "none" : group.parent().name()));
        TreeSet<String> threads = new TreeSet<>();
        for (ThreadReference thread : group.threads()) if (!isAgents(thread)) threads.add(thread.name());
        line(depth + 1, "threads " + threads);
        for (ThreadGroupReference child : group.threadGroups()) group(depth + 1, child);
    }

    static void type(ReferenceType type) throws Exception {
        String above = type instanceof ClassType && ((ClassType) type).superclass() != null ? ((ClassType) type).superclass().name() : "";
        line(0, "class " + type.signature() + " " + type.genericSignature() + " " + (type.modifiers() & ~0x20) + " extends " + above + " loader " + (type.classLoader() == null ? "boot" : type.classLoader().referenceType().name()) + " version " + type.majorVersion() + "." + type.minorVersion());
        line(1, "state " + type.isVerified() + type.isPrepared() + type.isInitialized() + " pool " + type.constantPoolCount());
        if (type instanceof ClassType) line(1, "implements " + names(((ClassType) type).interfaces()));
        if (type instanceof InterfaceType) line(1, "extends " + names(((InterfaceType) type).superinterfaces()));
        for (Field field : type.fields()) {
            line(1, "field " + field.name() + " " + field.signature() + " " + field.genericSignature() + " " + written(field) + " " + field.isSynthetic());
            if (field.isStatic()) value(2, "value", type.getValue(field), 2);
        }
        List<Method> methods = new ArrayList<>(type.methods());
        methods.sort((a, b) -> (a.name() + a.signature()).compareTo(b.name() + b.signature()));
        for (Method method : methods) {
            line(1, "method " + method.name() + method.signature() + " " + method.genericSignature() + " " + method.modifiers() + " " + method.isSynthetic() + " " + java.util.Arrays.hashCode(method.bytecodes()));
            if (method.isNative() || method.isAbstract()) continue;
            StringBuilder lines = new StringBuilder();
            try {
                for (Location at : method.allLineLocations()) lines.append(at.codeIndex()).append(':').append(at.lineNumber()).append(' ');
            } catch (AbsentInformationException e) {
                lines.append("none");
            }
            line(2, "lines " + lines);
            try {
                for (LocalVariable variable : method.variables()) line(2, "variable " + variable.name() + " " + variable.signature() + " " + variable.genericSignature() + " " + variable.isArgument());
            } catch (AbsentInformationException e) {
                line(2, "variables none");
            }
        }
    }

    static String names(List<? extends ReferenceType> types) {
        List<String> names = new ArrayList<>();
        for (ReferenceType type : types) names.add(type.name());
        return names.toString();
    }

    public static void main(String[] args) throws Exception {
        VirtualMachine vm = attach(args[0], args[1]);
        try {
            vm.suspend();
            line(0, "version " + vm.version() + " " + vm.name());
            for (ThreadGroupReference group : vm.topLevelThreadGroups()) group(0, group);
            TreeSet<String> names = new TreeSet<>();
            for (ThreadReference thread : vm.allThreads()) if (!isAgents(thread)) names.add(thread.name());
            for (String name : names)
                for (ThreadReference thread : vm.allThreads()) if (thread.name().equals(name)) thread(thread);
            TreeSet<String> types = new TreeSet<>();
            for (ReferenceType type : vm.allClasses()) if (!type.signature().contains("0x")) types.add(type.signature());
            line(0, "classes " + types);
            List<ReferenceType> own = new ArrayList<>();
            for (ReferenceType type : vm.allClasses()) if (type.signature().startsWith("LDebuggee") && !type.signature().contains("0x")) own.add(type);
            own.addAll(vm.classesByName("java.util.ArrayList"));
            own.addAll(vm.classesByName("java.util.Map"));
            own.sort((a, b) -> a.signature().compareTo(b.signature()));
            for (ReferenceType type : own) type(type);
            for (ReferenceType type : vm.classesByName("Debuggee$Point")) {
                line(0, "points " + type.instances(0).size());
                List<ObjectReference> points = new ArrayList<>(type.instances(0));
                points.sort((a, b) -> shown(a.getValue(type.fieldByName("x"))).compareTo(shown(b.getValue(type.fieldByName("x")))));
                for (ObjectReference point : points) {
                    value(1, "point", point, 2);
                    TreeSet<String> from = new TreeSet<>();
                    for (ObjectReference each : point.referringObjects(0)) from.add(each.referenceType().name());
                    line(2, "from " + from);
                }
            }
        } finally {
            System.out.print(out);
            System.out.flush();
            vm.dispose();
        }
    }
}
