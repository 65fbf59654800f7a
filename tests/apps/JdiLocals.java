import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.ArrayReference;
import com.sun.jdi.Bootstrap;
import com.sun.jdi.CharValue;
import com.sun.jdi.Field;
import com.sun.jdi.LocalVariable;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.PrimitiveValue;
import com.sun.jdi.StackFrame;
import com.sun.jdi.StringReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.AttachingConnector;
import com.sun.jdi.connect.Connector;
import java.util.Map;

/** The variables of Locals as a debugger sees them, in that program's own words: lines "METHOD NAME VALUE". */
public class JdiLocals {
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
        if (value == null) return "null";
        if (value instanceof CharValue) return "'" + value + "'";
        if (value instanceof PrimitiveValue) return value.toString();
        if (value instanceof StringReference) {
            String text = ((StringReference) value).value();
            return text.startsWith("<not available") ? text : "\"" + text + "\"";
        }
        String type = value.type().name();
        if (value instanceof ArrayReference) return type.replace("[]", "[" + ((ArrayReference) value).length() + "]");
        return type;
    }

    static void tell(String method, String name, Value value, int levels) {
        System.out.println(method + " " + name + " " + shown(value));
        if (value instanceof StringReference || levels == 0) return;
        if (value instanceof ArrayReference) {
            ArrayReference array = (ArrayReference) value;
            for (int i = 0; i < Math.min(array.length(), 10); i++) tell(method, name + "[" + i + "]", array.getValue(i), levels - 1);
        } else if (value instanceof ObjectReference && value.type().name().startsWith("Locals$")) {
            for (Field field : ((ObjectReference) value).referenceType().allFields())
                if (!field.isStatic()) tell(method, name + "." + field.name(), ((ObjectReference) value).getValue(field), levels - 1);
        }
    }

    public static void main(String[] args) throws Exception {
        VirtualMachine vm = attach(args[0], args[1]);
        try {
            for (ThreadReference thread : vm.allThreads()) {
                if (!thread.name().startsWith("in ")) continue;
                for (StackFrame frame : thread.frames()) {
                    if (!frame.location().declaringType().name().equals("Locals")) continue;
                    String method = frame.location().method().name();
                    if (frame.thisObject() != null) tell(method, "this", frame.thisObject(), 0);
                    for (LocalVariable variable : frame.visibleVariables()) tell(method, variable.name(), frame.getValue(variable), 2);
                }
            }
        } finally {
            System.out.flush();
            vm.dispose();
        }
    }
}
