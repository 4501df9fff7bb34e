let size={{size}};const letters="ABCDEFGHJKLMNOPQRSTUVWXYZ";
const pick=document.getElementById("pick"),board=document.getElementById("board"),where=document.getElementById("where");
let at=0;
games.forEach((g,i)=>pick.add(new Option(`game ${g.number}, round ${g.round}: ${g.result}, ${g.moves.length} moves`,i)));
function around(p){const x=p%size,y=Math.floor(p/size);return[[x-1,y],[x+1,y],[x,y-1],[x,y+1]].filter(([a,b])=>a>=0&&b>=0&&a<size&&b<size).map(([a,b])=>b*size+a)}
function block(s,p){const seen=new Set([p]),open=[p];let free=false;while(open.length){for(const n of around(open.pop())){if(!s[n])free=true;else if(s[n]===s[p]&&!seen.has(n)){seen.add(n);open.push(n)}}}return[seen,free]}
function position(moves){const s=Array(size*size).fill(0);let last=-1;moves.forEach((m,i)=>{last=-1;if(m==="pass")return;const p=(+m.slice(1)-1)*size+letters.indexOf(m[0]);const c=1+i%2;s[p]=c;last=p;
for(const n of around(p))if(s[n]===3-c){const[b,free]=block(s,n);if(!free)b.forEach(q=>s[q]=0)}});return[s,last]}
function draw(){const g=games[pick.value];if(!g){where.textContent="no game yet";return}
size=g.size||size;at=Math.max(0,Math.min(g.moves.length,at));const[s,last]=position(g.moves.slice(0,at));const c=20,w=size*c;
let h="";for(let i=0;i<size;i++){const a=c/2+i*c;h+=`<path d="M${c/2} ${a}H${w-c/2}M${a} ${c/2}V${w-c/2}" stroke="#654" stroke-width="1"/>`}
s.forEach((v,p)=>{if(v){const x=c/2+p%size*c,y=w-c/2-Math.floor(p/size)*c;h+=`<circle cx="${x}" cy="${y}" r="9" fill="${v===1?"#111":"#fff"}" stroke="#333"/>`;if(p===last)h+=`<circle cx="${x}" cy="${y}" r="4" fill="#d33"/>`}});
board.setAttribute("viewBox",`0 0 ${w} ${w}`);board.innerHTML=h;where.textContent=`move ${at} of ${g.moves.length}${at?": "+g.moves[at-1]:""}`}
pick.onchange=()=>{at=0;draw()};document.getElementById("back").onclick=()=>{at--;draw()};document.getElementById("on").onclick=()=>{at++;draw()};
document.onkeydown=e=>{if(e.key==="ArrowLeft"){at--;draw()}if(e.key==="ArrowRight"){at++;draw()}};
pick.value=games.length-1;at=1e9;draw();
