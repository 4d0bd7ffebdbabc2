// The chart library, fetched once at its first use: `const plotly = await loadPlotly(ctx.plotly)`.
let library = null;

export function loadPlotly(version) {
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = `/static/vendor/plotly.min.js?v=${encodeURIComponent(version)}`;
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => {
      library = null;
      script.remove();
      reject(new Error('plotly.min.js did not load'));
    };
    document.head.append(script);
  });
  return library;
}
