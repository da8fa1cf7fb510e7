// clientgo KUBECONFIG: what programs written with client-go do, against the API server of that file: typed, dynamic and metadata
// clients, informers, leader election and recorders, each with the content type it has when nobody names one. Prints TAP.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/retry"
)

const (
	ns   = "default"
	soon = 20 * time.Second
)

var (
	ctx     = context.Background()
	tests   int
	gadgets = schema.GroupVersionResource{Group: "cg.example.com", Version: "v1", Resource: "gadgets"}
	maps    = corev1.SchemeGroupVersion.WithResource("configmaps")
)

func check(name string, err error) {
	tests++
	if err == nil {
		fmt.Printf("ok %d - %s\n", tests, name)
		return
	}
	fmt.Printf("not ok %d - %s\n    # %s\n", tests, name, strings.ReplaceAll(err.Error(), "\n", "\n    # "))
}

func want(holds bool, format string, args ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// within: f holds before long.
func within(f func() error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, soon, true, func(context.Context) (bool, error) {
		last = f()
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("%w: %v", err, last)
	}
	return nil
}

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"from": "clientgo"}}, Data: data}
}

func deployment() *appsv1.Deployment {
	labels := map[string]string{"app": "cg"}
	pod := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i:1"}}}}
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "cg"},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: pod}}
}

// typedWrites: every verb of a typed client.
func typedWrites(c kubernetes.Interface) error {
	cms := c.CoreV1().ConfigMaps(ns)
	made, err := cms.Create(ctx, configMap("typed", map[string]string{"a": "1"}), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if made.UID == "" || made.CreationTimestamp.IsZero() || made.ManagedFields[0].Manager != filepath.Base(os.Args[0]) {
		return fmt.Errorf("created: %+v", made.ObjectMeta)
	}
	stale := made.DeepCopy()
	made.Data["b"] = "2"
	if made, err = cms.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if _, err = cms.Update(ctx, stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		return fmt.Errorf("stale update: %v", err)
	}
	for kind, patch := range map[types.PatchType]string{
		types.MergePatchType: `{"data":{"m":"1"}}`, types.StrategicMergePatchType: `{"data":{"s":"1"}}`,
		types.JSONPatchType: `[{"op":"add","path":"/data/j","value":"1"}]`} {
		if made, err = cms.Patch(ctx, "typed", kind, []byte(patch), metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	applied := applycore.ConfigMap("typed", ns).WithData(map[string]string{"p": "1"})
	if made, err = cms.Apply(ctx, applied, metav1.ApplyOptions{FieldManager: "cg"}); err != nil {
		return err
	}
	if len(made.Data) != 6 {
		return fmt.Errorf("data: %v", made.Data)
	}
	applied.Data["a"] = "mine"
	if _, err = cms.Apply(ctx, applied, metav1.ApplyOptions{FieldManager: "cg"}); !apierrors.IsConflict(err) {
		return fmt.Errorf("apply of another's field: %v", err)
	}
	return cms.Delete(ctx, "typed", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(made.UID))})
}

func typedErrors(c kubernetes.Interface) error {
	cms := c.CoreV1().ConfigMaps(ns)
	if _, err := cms.Get(ctx, "nowhere", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return fmt.Errorf("get: %v", err)
	}
	if _, err := cms.Create(ctx, configMap("twice", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := cms.Create(ctx, configMap("twice", nil), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create again: %v", err)
	}
	_, err := cms.Create(ctx, configMap("-", map[string]string{"/": ""}), metav1.CreateOptions{})
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsInvalid(err) || len(status.Status().Details.Causes) != 2 {
		return fmt.Errorf("wrong: %v", err)
	}
	return cms.Delete(ctx, "twice", metav1.DeleteOptions{})
}

func typedLists(c kubernetes.Interface) error {
	cms := c.CoreV1().ConfigMaps(ns)
	for i := range 25 {
		if _, err := cms.Create(ctx, configMap(fmt.Sprintf("page-%02d", i), nil), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	options, seen := metav1.ListOptions{LabelSelector: "from=clientgo", Limit: 10}, 0
	for {
		page, err := cms.List(ctx, options)
		if err != nil {
			return err
		}
		seen += len(page.Items)
		if options.Continue = page.Continue; options.Continue == "" {
			break
		}
	}
	if err := cms.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "from=clientgo"}); err != nil {
		return err
	}
	left, err := cms.List(ctx, metav1.ListOptions{LabelSelector: "from=clientgo"})
	if err != nil {
		return err
	}
	return want(seen == 25 && len(left.Items) == 0, "%d of 25 seen, %d left", seen, len(left.Items))
}

func typedWorkload(c kubernetes.Interface) error {
	ds := c.AppsV1().Deployments(ns)
	d, err := ds.Create(ctx, deployment(), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if *d.Spec.Replicas != 1 || d.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyAlways {
		return fmt.Errorf("defaults: %+v", d.Spec)
	}
	scale, err := ds.GetScale(ctx, "cg", metav1.GetOptions{})
	if err != nil {
		return err
	}
	scale.Spec.Replicas = 3
	if _, err = ds.UpdateScale(ctx, "cg", scale, metav1.UpdateOptions{}); err != nil {
		return err
	}
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		now, err := ds.Get(ctx, "cg", metav1.GetOptions{})
		if err != nil {
			return err
		}
		now.Status.Conditions = append(now.Status.Conditions, appsv1.DeploymentCondition{Type: "Mine", Status: "True", Reason: "R"})
		_, err = ds.UpdateStatus(ctx, now, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return err
	}
	patch := `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i:2"}]}}}}`
	if d, err = ds.Patch(ctx, "cg", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		return err
	}
	all := d.Spec.Template.Spec.Containers
	if *d.Spec.Replicas != 3 || len(d.Status.Conditions) == 0 || len(all) != 1 || all[0].Image != "i:2" {
		return fmt.Errorf("%+v %+v", d.Spec, d.Status)
	}
	foreground := metav1.DeletePropagationForeground
	if err = ds.Delete(ctx, "cg", metav1.DeleteOptions{PropagationPolicy: &foreground}); err != nil {
		return err
	}
	return within(func() error {
		_, err := ds.Get(ctx, "cg", metav1.GetOptions{})
		return want(apierrors.IsNotFound(err), "still there: %v", err)
	})
}

// typedSubresources: what has a body of another kind.
func typedSubresources(c kubernetes.Interface) error {
	if _, err := c.CoreV1().ServiceAccounts(ns).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "cg"}},
		metav1.CreateOptions{}); err != nil {
		return err
	}
	token, err := c.CoreV1().ServiceAccounts(ns).CreateToken(ctx, "cg", &authv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	review, err := c.AuthenticationV1().TokenReviews().Create(ctx,
		&authv1.TokenReview{Spec: authv1.TokenReviewSpec{Token: token.Status.Token}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if review.Status.User.Username != "system:serviceaccount:default:cg" {
		return fmt.Errorf("%+v", review.Status)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "cg"}, Spec: deployment().Spec.Template.Spec}
	if _, err = c.CoreV1().Pods(ns).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err = c.CoreV1().Pods(ns).Bind(ctx, &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "cg"},
		Target: corev1.ObjectReference{Kind: "Node", Name: "n"}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	err = c.CoreV1().Pods(ns).EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "cg"}})
	if err != nil {
		return err
	}
	if err = c.CoreV1().ServiceAccounts(ns).Delete(ctx, "cg", metav1.DeleteOptions{}); err != nil {
		return err
	}
	_, err = c.CoreV1().Pods(ns).GetLogs("cg", &corev1.PodLogOptions{}).DoRaw(ctx)
	return want(err != nil, "there is a log of a Pod that nothing runs")
}

// told: what an informer told, in its order.
type told struct{ adds, updates, deletes atomic.Int32 }

func (t *told) handler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{AddFunc: func(any) { t.adds.Add(1) }, UpdateFunc: func(any, any) { t.updates.Add(1) },
		DeleteFunc: func(any) { t.deletes.Add(1) }}
}

// follow: an informer is told what a client does to one object.
func follow(i cache.SharedIndexInformer, act ...func() error) error {
	t, stop := &told{}, make(chan struct{})
	defer close(stop)
	if _, err := i.AddEventHandler(t.handler()); err != nil {
		return err
	}
	go i.Run(stop)
	if !cache.WaitForCacheSync(stopAfter(), i.HasSynced) {
		return errors.New("it never synced")
	}
	before := t.adds.Load()
	for _, f := range act {
		if err := f(); err != nil {
			return err
		}
	}
	return within(func() error {
		a, u, d := t.adds.Load()-before, t.updates.Load(), t.deletes.Load()
		return want(a == 1 && u >= 1 && d == 1, "%d adds, %d updates, %d deletes", a, u, d)
	})
}

func stopAfter() <-chan struct{} {
	c, _ := context.WithTimeout(ctx, soon) //nolint:govet
	return c.Done()
}

func typedInformer(c kubernetes.Interface) error {
	cms := c.CoreV1().ConfigMaps(ns)
	return follow(informers.NewSharedInformerFactory(c, 0).Core().V1().ConfigMaps().Informer(),
		func() error { _, err := cms.Create(ctx, configMap("inf", nil), metav1.CreateOptions{}); return err },
		func() error {
			_, err := cms.Patch(ctx, "inf", types.MergePatchType, []byte(`{"data":{"k":"v"}}`), metav1.PatchOptions{})
			return err
		},
		func() error { return cms.Delete(ctx, "inf", metav1.DeleteOptions{}) })
}

func gadget(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "cg.example.com/v1", "kind": "Gadget",
		"metadata": map[string]any{"name": name}, "spec": map[string]any{"size": int64(1)}}}
}

const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gadgets.cg.example.com"},
"spec":{"group":"cg.example.com","scope":"Namespaced","names":{"plural":"gadgets","singular":"gadget","kind":"Gadget"},"versions":[
{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{
"spec":{"type":"object","properties":{"size":{"type":"integer","maximum":9}}},
"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}}`

// dynamicDefinition: a definition is created, and its kind found as operators find it.
func dynamicDefinition(c kubernetes.Interface, d dynamic.Interface) error {
	crds := d.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	crd := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(definition), &crd.Object); err != nil {
		return err
	}
	if _, err := crds.Create(ctx, crd, metav1.CreateOptions{}); err != nil {
		return err
	}
	err := within(func() error {
		now, err := crds.Get(ctx, crd.GetName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(now.Object, "status", "conditions")
		for _, one := range conditions {
			if m := one.(map[string]any); m["type"] == "Established" && m["status"] == "True" {
				return nil
			}
		}
		return fmt.Errorf("conditions: %v", conditions)
	})
	if err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.Discovery()))
	m, err := mapper.RESTMapping(schema.GroupKind{Group: "cg.example.com", Kind: "Gadget"})
	if err != nil {
		return err
	}
	return want(m.Resource == gadgets && m.Scope.Name() == meta.RESTScopeNameNamespace, "%v", m)
}

func dynamicWrites(d dynamic.Interface) error {
	r := d.Resource(gadgets).Namespace(ns)
	if _, err := r.Create(ctx, gadget("g"), metav1.CreateOptions{}); err != nil {
		return err
	}
	bad := gadget("bad")
	_ = unstructured.SetNestedField(bad.Object, int64(10), "spec", "size")
	if _, err := r.Create(ctx, bad, metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		return fmt.Errorf("too large: %v", err)
	}
	if _, err := r.Apply(ctx, "g", gadget("g"), metav1.ApplyOptions{FieldManager: "cg", Force: true}); err != nil {
		return err
	}
	now, err := r.Get(ctx, "g", metav1.GetOptions{})
	if err != nil {
		return err
	}
	_ = unstructured.SetNestedField(now.Object, "Ready", "status", "phase")
	if now, err = r.UpdateStatus(ctx, now, metav1.UpdateOptions{}); err != nil {
		return err
	}
	phase, _, _ := unstructured.NestedString(now.Object, "status", "phase")
	size, _, _ := unstructured.NestedInt64(now.Object, "spec", "size")
	return want(phase == "Ready" && size == 1, "%v", now.Object)
}

func dynamicInformer(d dynamic.Interface) error {
	r := d.Resource(gadgets).Namespace(ns)
	return follow(dynamicinformer.NewDynamicSharedInformerFactory(d, 0).ForResource(gadgets).Informer(),
		func() error { _, err := r.Create(ctx, gadget("inf"), metav1.CreateOptions{}); return err },
		func() error {
			_, err := r.Patch(ctx, "inf", types.MergePatchType, []byte(`{"status":{"a":1}}`), metav1.PatchOptions{}, "status")
			return err
		},
		func() error { return r.Delete(ctx, "inf", metav1.DeleteOptions{}) })
}

func metadataClient(m metadata.Interface, d dynamic.Interface) error {
	r := m.Resource(gadgets).Namespace(ns)
	list, err := r.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if len(list.Items) != 1 || list.Items[0].Name != "g" {
		return fmt.Errorf("list: %+v", list.Items)
	}
	one, err := r.Patch(ctx, "g", types.MergePatchType, []byte(`{"metadata":{"labels":{"m":"1"}}}`), metav1.PatchOptions{})
	if err != nil {
		return err
	}
	if one.Labels["m"] != "1" || one.UID == "" {
		return fmt.Errorf("patched: %+v", one)
	}
	err = follow(metadatainformer.NewSharedInformerFactory(m, 0).ForResource(gadgets).Informer(),
		func() error {
			_, err := d.Resource(gadgets).Namespace(ns).Create(ctx, gadget("m"), metav1.CreateOptions{})
			return err
		},
		func() error {
			_, err := r.Patch(ctx, "m", types.MergePatchType, []byte(`{"metadata":{"annotations":{"a":"1"}}}`), metav1.PatchOptions{})
			return err
		},
		func() error { return r.Delete(ctx, "m", metav1.DeleteOptions{}) })
	if err != nil {
		return err
	}
	core, err := m.Resource(maps).Namespace("kube-system").List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return err
	}
	return want(core.ResourceVersion != "", "no revision: %+v", core.ListMeta)
}

// lead: one of two leads; when it lets go, the other one does.
func lead(c kubernetes.Interface, recorder resourcelock.EventRecorder) error {
	started := make(chan string, 2)
	run := func(name string) context.CancelFunc {
		lock, err := resourcelock.New(resourcelock.LeasesResourceLock, ns, "cg", c.CoreV1(), c.CoordinationV1(),
			resourcelock.ResourceLockConfig{Identity: name, EventRecorder: recorder})
		if err != nil {
			panic(err)
		}
		mine, cancel := context.WithCancel(ctx)
		e, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{Lock: lock, ReleaseOnCancel: true,
			LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 100 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { started <- name }, OnStoppedLeading: func() {}}})
		if err != nil {
			panic(err)
		}
		go e.Run(mine)
		return cancel
	}
	next := func(name string) error {
		select {
		case who := <-started:
			return want(who == name, "%s leads", who)
		case <-time.After(soon):
			return fmt.Errorf("%s does not lead", name)
		}
	}
	first := run("a")
	if err := next("a"); err != nil {
		first()
		return err
	}
	defer run("b")()
	first()
	if err := next("b"); err != nil {
		return err
	}
	lease, err := c.CoordinationV1().Leases(ns).Get(ctx, "cg", metav1.GetOptions{})
	if err != nil {
		return err
	}
	return want(*lease.Spec.HolderIdentity == "b" && lease.Spec.RenewTime != nil, "%+v", lease.Spec)
}

func event(c kubernetes.Interface, reason string, holds func(e corev1.Event) bool) error {
	return within(func() error {
		list, err := c.CoreV1().Events(ns).List(ctx, metav1.ListOptions{FieldSelector: "reason=" + reason})
		if err != nil {
			return err
		}
		for _, e := range list.Items {
			if holds(e) {
				return nil
			}
		}
		return fmt.Errorf("%+v", list.Items)
	})
}

func recorders(c kubernetes.Interface) error {
	cm, err := c.CoreV1().ConfigMaps(ns).Create(ctx, configMap("told", nil), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	ref := &corev1.ObjectReference{Kind: "ConfigMap", APIVersion: "v1", Namespace: ns, Name: cm.Name, UID: cm.UID}
	old := record.NewBroadcaster()
	defer old.Shutdown()
	old.StartRecordingToSink(&typedcore.EventSinkImpl{Interface: c.CoreV1().Events("")})
	r := old.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "cg"})
	for range 3 {
		r.Event(ref, corev1.EventTypeNormal, "Old", "the same again")
	}
	if err = event(c, "Old", func(e corev1.Event) bool { return e.Count == 3 && e.Source.Component == "cg" }); err != nil {
		return err
	}
	newer := events.NewBroadcaster(&events.EventSinkImpl{Interface: c.EventsV1()})
	newer.StartRecordingToSink(stopAfter())
	defer newer.Shutdown()
	newer.NewRecorder(scheme.Scheme, "cg/new").Eventf(ref, nil, corev1.EventTypeWarning, "New", "Act", "note %d", 1)
	return event(c, "New", func(e corev1.Event) bool {
		return e.Action == "Act" && e.Message == "note 1" && e.InvolvedObject.UID == cm.UID && e.ReportingController == "cg/new"
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return v
}

func main() {
	config := must(clientcmd.BuildConfigFromFlags("", os.Args[1]))
	config.QPS, config.Burst, config.WarningHandler = 1000, 1000, rest.NoWarnings{}
	c, d, m := must(kubernetes.NewForConfig(config)), must(dynamic.NewForConfig(config)), must(metadata.NewForConfig(config))
	check("typed: create, update, each patch, apply, delete", typedWrites(c))
	check("typed: errors are those that client-go tells apart", typedErrors(c))
	check("typed: pages, deletecollection", typedLists(c))
	check("typed: a Deployment, its scale, status and foreground deletion", typedWorkload(c))
	check("typed: token, review, binding, eviction", typedSubresources(c))
	check("typed: an informer", typedInformer(c))
	binary := rest.CopyConfig(config)
	binary.ContentType, binary.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
	p := must(kubernetes.NewForConfig(binary))
	check("protobuf only: create, update, each patch, apply, delete", typedWrites(p))
	check("protobuf only: errors are those that client-go tells apart", typedErrors(p))
	check("protobuf only: pages, deletecollection", typedLists(p))
	check("protobuf only: a Deployment, its scale, status and foreground deletion", typedWorkload(p))
	check("protobuf only: token, review, binding, eviction", typedSubresources(p))
	check("protobuf only: an informer", typedInformer(p))
	check("dynamic: a definition, found by a mapper", dynamicDefinition(c, d))
	check("dynamic: create, apply, status", dynamicWrites(d))
	check("dynamic: an informer", dynamicInformer(d))
	check("metadata: list, patch, an informer", metadataClient(m, d))
	b := record.NewBroadcaster()
	b.StartRecordingToSink(&typedcore.EventSinkImpl{Interface: c.CoreV1().Events("")})
	check("leader election: one of two, then the other", lead(c, b.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "cg"})))
	check("leader election: its events", event(c, "LeaderElection", func(e corev1.Event) bool { return e.Message == "b became leader" }))
	check("recorders of core and of events.k8s.io", recorders(c))
	fmt.Printf("1..%d\n", tests)
}
