import java.io.File;
import java.util.*;
import org.graalvm.visualvm.lib.jfluid.heap.*;

/** Reads a heap dump with VisualVM's library and prints its contents as key=value lines. */
public final class HprofOracle {
    public static void main(String[] args) throws Exception {
        Heap heap = HeapFactory.createHeap(new File(args[0]));
        HeapSummary summary = heap.getSummary();
        System.out.println("instances=" + summary.getTotalLiveInstances());
        System.out.println("bytes=" + summary.getTotalLiveBytes());
        System.out.println("classes=" + heap.getAllClasses().size());
        TreeMap<String, Integer> roots = new TreeMap<>();
        int dangling = 0;
        for (Object each : heap.getGCRoots()) {
            GCRoot root = (GCRoot) each;
            roots.merge(root.getKind().replace(' ', '_'), 1, Integer::sum);
            if (root.getInstance() == null) dangling++;
        }
        for (Map.Entry<String, Integer> root : roots.entrySet()) System.out.println("root." + root.getKey() + "=" + root.getValue());
        System.out.println("dangling=" + dangling);
        for (int i = 1; i < args.length; i++) {
            JavaClass type = heap.getJavaClassByName(args[i]);
            System.out.println("count." + args[i] + "=" + (type == null ? -1 : type.getInstancesCount()));
        }
        JavaClass derived = heap.getJavaClassByName("HeapZoo$Derived");
        if (derived != null) {
            Instance instance = (Instance) derived.getInstances().get(0);
            for (Object each : instance.getFieldValues()) {
                FieldValue value = (FieldValue) each;
                System.out.println("field." + value.getField().getDeclaringClass().getName() + "." + value.getField().getName() + "=" + value.getValue());
            }
        }
        JavaClass zoo = heap.getJavaClassByName("HeapZoo");
        if (zoo != null) for (Object each : zoo.getStaticFieldValues()) {
            FieldValue value = (FieldValue) each;
            System.out.println("static." + value.getField().getName() + "=" + value.getValue());
        }
    }
}
